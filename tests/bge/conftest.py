"""A model with the architecture of bge-m3 that is small enough to make on the spot."""

import json
from pathlib import Path

import pytest

from memory_palace.embedding.bge_m3 import BgeM3Embedder

HIDDEN = 32
CORPUS = """the station on the ridge reports wind, rain and pressure every ten minutes
we replaced the gateway because its radio lost packets in the cold
battery below eleven volts means the solar panel is covered with snow
das ist ein kurzer Satz auf Deutsch mit Umlauten äöü
une phrase en français avec des accents éèà
这是一个中文句子 用来训练分词器
0123456789 a path, a loop; a question? an exclamation! (brackets) [links] #tags <s>""".splitlines()


def save_tokenizer(folder: Path) -> int:
    """Train a Unigram tokenizer of XLM-RoBERTa's shape; return the size of its vocabulary."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    trainer = trainers.UnigramTrainer(
        vocab_size=300, special_tokens=special, unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.add_special_tokens(["<mask>"])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        cls_token="<s>",
        eos_token="</s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="<mask>",
        model_max_length=8192,
    ).save_pretrained(folder)
    settings = folder / "tokenizer_config.json"
    # The published folder names this class; FlagEmbedding's AutoTokenizer follows it.
    values = {**json.loads(settings.read_bytes()), "tokenizer_class": "XLMRobertaTokenizer"}
    settings.write_text(json.dumps(values), "utf-8")
    return int(tokenizer.get_vocab_size())


def save_encoder(folder: Path, vocabulary: int, seed: int) -> None:
    """Save random weights of two layers, and both heads that FlagEmbedding looks for."""
    import torch
    from transformers import XLMRobertaConfig, XLMRobertaModel

    torch.manual_seed(seed)
    config = XLMRobertaConfig(
        vocab_size=vocabulary,
        hidden_size=HIDDEN,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=4 * HIDDEN,
        max_position_embeddings=1026,
        type_vocab_size=1,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        initializer_range=0.5,
    )
    XLMRobertaModel(config).save_pretrained(folder)
    torch.save(torch.nn.Linear(HIDDEN, HIDDEN).state_dict(), folder / "colbert_linear.pt")
    torch.save(torch.nn.Linear(HIDDEN, 1).state_dict(), folder / "sparse_linear.pt")


def save_tiny_bge_m3(folder: Path, *, seed: int = 0) -> Path:
    """Write every file that the embedder asks of a folder of weights."""
    folder.mkdir(parents=True)
    save_encoder(folder, save_tokenizer(folder), seed)
    return folder


@pytest.fixture(scope="session")
def tiny_bge_m3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete folder of random weights; do not change it."""
    pytest.importorskip("FlagEmbedding", reason="needs the extra [bge]")
    return save_tiny_bge_m3(tmp_path_factory.mktemp("weights") / "tiny-bge-m3")


@pytest.fixture(scope="session")
def embedder(tiny_bge_m3: Path, tmp_path_factory: pytest.TempPathFactory) -> BgeM3Embedder:
    """The embedder over the tiny weights, loaded once."""
    return BgeM3Embedder(tiny_bge_m3, cache=tmp_path_factory.mktemp("cache"))
