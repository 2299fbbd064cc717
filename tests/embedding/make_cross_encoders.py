"""Make the two small cross-encoders of ``data/cross_encoders``, and what transformers gives.

The weights are random and seeded, the vocabularies are trained on the lines below. Run it where
torch 2.13.0, transformers, tokenizers and sentencepiece are installed; no test does:
``python tests/embedding/make_cross_encoders.py tests/embedding/data/cross_encoders``.
"""

from __future__ import annotations

import json
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

CORPUS = """the barometer in the hut fell by nine points before the storm came over the ridge
we replaced the gateway because its radio lost packets in the cold of the valley
the battery below eleven volts means that the solar panel is covered with snow
das Barometer in der Hütte fiel um neun Punkte, bevor der Sturm über den Grat kam
le baromètre de la cabane est tombé de neuf points avant l'orage, été comme hiver
el barómetro bajó nueve puntos antes de la tormenta en la montaña, según el diario
барометр в хижине упал на девять пунктов перед бурей над хребтом
山小屋の気圧計が嵐の前に九ポイント下がった 屋根の雪を下ろした
暴风雨来临之前小屋里的气压计下降了九个点 我们更换了网关
0123456789 a path, a loop; a question? an exclamation! (brackets) [links] #tags "quotes" -- ok
""".splitlines()
RULES = {
    "\t": " ", "\n": " ", "\r": " ", "\u3000": " ", "\u00a0": " ", "\u200b": " ", "\x01": "",
    "e\u0301": "é", "e\u0300": "è", "u\u0308": "ü", "o\u0301": "ó", "n\u0303": "ñ",
    "ﬁ": "fi", "ﬀ": "ff", "①": "1", "½": "1⁄2", "ｶ\uff9e": "ガ", "ｶ": "カ", "㎞": "km", "…": "...",
    **{chr(0xFF01 + n): chr(0x21 + n) for n in range(94)},
}  # fmt: skip
"""A part of what SentencePiece replaces, in its own format: letters, and those with marks."""
LONG = "the storm came over the ridge and the battery fell " * 12
PAIRS = [
    ("why did the barometer fall?", "The barometer fell by nine points before the storm."),
    ("why did the barometer fall?", ""),
    ("", "the gateway"),
    ("", ""),
    ("storm", LONG),
    (LONG, "storm"),
    (LONG, LONG),
    (LONG[:150], LONG[:170]),
    ("Hütte im été, según él", "la cabane est tombée; ñandú Cafe\u0301 e\u0301te\u0301 naïve"),
    ("气压计为什么下降?", "暴风雨来临之前小屋里的气压计下降了九个点。"),
    ("屋根の雪", "山小屋の気圧計が嵐の前に九ポイント下がった ｶﾞｶ ㎞"),
    ("барометр упал?", "Барометр в хижине упал на 9 пунктов — перед бурей…"),
    ("emoji 🙂🙂 zq", "a 👩‍👩‍👧 storm 🏳️‍🌈 \u200b zero\u00adhyphen ﬁne ﬀ ½ ①"),
    ("tabs\tand\nlines", "Ｆｕｌｌ ｗｉｄｔｈ １２３ ！  two  blanks \u3000 wide"),
    ("[brackets] #tags", 'code_like_this path/to/file.md "quotes" -- ok'),
    ("x" * 120, "y" * 400),
]


def save_bert_tokenizer(folder: Path) -> None:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(
        vocab_size=330, special_tokens=special, show_progress=False, limit_alphabet=200
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)


def train_pieces(rules: Path | None, size: int) -> tuple[list[tuple[str, float]], bytes]:
    """Return pieces with their scores, and the table of characters of a SentencePiece model."""
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2

    written = BytesIO()
    options: dict[str, Any] = {"normalization_rule_tsv": str(rules)} if rules else {}
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS), model_writer=written, vocab_size=size, num_threads=1,
        hard_vocab_limit=False, character_coverage=0.99, minloglevel=2, **options,
    )  # fmt: skip
    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString(written.getvalue())
    pieces = [(piece.piece, piece.score) for piece in list(model.pieces)[3:]]
    return pieces, model.normalizer_spec.precompiled_charsmap


def save_unigram_tokenizer(folder: Path, *, size: int = 330, all_rules: bool = False) -> None:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    rules = None
    if not all_rules:
        rules = folder / "rules.tsv"
        codes = [[[f"{ord(c):X}" for c in side] for side in rule] for rule in RULES.items()]
        lines = (f"{' '.join(old)}\t{' '.join(new)}\n" for old, new in codes)
        rules.write_text("".join(lines), "utf-8")
    pieces, table = train_pieces(rules, size)
    if rules:
        rules.unlink()
    special = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    tokenizer = Tokenizer(models.Unigram([*special, *pieces, ("<mask>", 0.0)], unk_id=3))
    tokenizer.normalizer = normalizers.Precompiled(table)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    told = {"model_max_length": 80, "tokenizer_class": "XLMRobertaTokenizer"}
    (folder / "tokenizer_config.json").write_text(f"{json.dumps(told)}\n", "utf-8")


def make(folder: Path, name: str) -> None:
    """Save one model in 16 bits, and the logits of its widened weights."""
    import torch
    from tokenizers import Tokenizer
    from transformers import AutoConfig, AutoModelForSequenceClassification

    here = folder / name
    here.mkdir(parents=True, exist_ok=True)
    is_bert = name == "bert"
    (save_bert_tokenizer if is_bert else save_unigram_tokenizer)(here)
    tokenizer = Tokenizer.from_file(str(here / "tokenizer.json"))
    labels = ["LABEL_0"] if is_bert else ["entailment", "neutral", "contradiction"]
    config = AutoConfig.for_model(
        "bert" if is_bert else "xlm-roberta",
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=80 if is_bert else 82,
        type_vocab_size=2 if is_bert else 1,
        layer_norm_eps=1e-12 if is_bert else 1e-5,
        pad_token_id=0 if is_bert else 1,
        initializer_range=0.3,
        id2label=dict(enumerate(labels)),
        label2id={label: n for n, label in enumerate(labels)},
    )
    torch.manual_seed(16)
    model = AutoModelForSequenceClassification.from_config(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():  # biases and norms of a new model are all alike
            parameter.add_(torch.randn(parameter.shape) * 0.1)
    model.to(torch.float16 if is_bert else torch.bfloat16).save_pretrained(here)
    model.to(torch.float32)
    limit = 80
    tokenizer.enable_truncation(limit, strategy="longest_first")
    logits, ids = [], []
    for first, second in PAIRS:
        encoded = tokenizer.encode(first, second)
        inputs = {"input_ids": torch.tensor([encoded.ids])}
        if is_bert:
            inputs["token_type_ids"] = torch.tensor([encoded.type_ids])
        with torch.inference_mode():
            logits.append(model(**inputs).logits[0].tolist())
        ids.append(encoded.ids)
    golden = {"pairs": PAIRS, "ids": ids, "logits": logits, "labels": labels}
    text = json.dumps(golden, ensure_ascii=True, separators=(",", ":"))
    (here / "golden.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    for model_name in ("bert", "xlm_roberta"):
        make(Path(sys.argv[1]), model_name)
