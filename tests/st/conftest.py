"""A sentence-transformers model that is small enough to make on the spot, with prompts."""

from pathlib import Path

import pytest

WORDS = (
    "the gateway on ridge lost packets in cold battery below eleven volts means snow covers panel "
    "was wird dort query passage : ist ein satz auf deutsch a of"
).split()


def save_tiny_model(folder: Path, *, seed: int = 0, prompts: bool = True) -> Path:
    """Write a BERT of random weights with mean pooling, in the layout of the library."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    torch.manual_seed(seed)
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = [mark + letter for letter in "abcdefghijklmnopqrstuvwxyz" for mark in ("", "##")]
    pieces = dict.fromkeys([*special, *letters, *WORDS, ".", ","])
    source = folder.parent / f"{folder.name}-source"
    source.mkdir(parents=True)
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    BertTokenizerFast(vocab=vocabulary, model_max_length=64).save_pretrained(source)
    config = BertConfig(
        vocab_size=len(pieces),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.5,
    )
    BertModel(config).save_pretrained(source)
    encoder = Transformer(str(source))
    told = {"query": "query: ", "document": "passage: "} if prompts else None
    parts = [encoder, Pooling(encoder.get_embedding_dimension())]
    SentenceTransformer(modules=parts, prompts=told).save_pretrained(str(folder))
    return folder


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of random weights; do not change it."""
    pytest.importorskip("sentence_transformers", reason="needs the extra [st]")
    return save_tiny_model(tmp_path_factory.mktemp("weights") / "tiny")
