"""A sentence-transformers model folder of the form of bge-m3, a few kilobytes large.

XLM-RoBERTa with dense vectors from the first token, made unit length, weights as `.bin`; they are
random, so its vectors mean nothing.
"""

from __future__ import annotations

import json
from pathlib import Path

WORDS = ("acme", "zenith", "revenue", "board", "crore", "cargo", "dividend", "of", "in", "the")
DIMENSION = 16


def make_model(folder: Path, *, seed: int = 0, pooling: str = "cls", max_tokens: int = 64) -> Path:
    """The folder, written anew."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast, XLMRobertaConfig, XLMRobertaModel

    pieces = ["<s>", "<pad>", "</s>", "<unk>", *WORDS, *"abcdefghijklmnopqrstuvwxyz0123456789"]
    pieces += [f"##{piece}" for piece in "abcdefghijklmnopqrstuvwxyz0123456789"]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair=None, special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    folder.mkdir(parents=True, exist_ok=True)
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        model_max_length=max_tokens,
    ).save_pretrained(folder)
    config = XLMRobertaConfig(
        vocab_size=len(vocabulary),
        hidden_size=DIMENSION,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=max_tokens + 2,
        initializer_range=1.0,  # so that texts are not all alike
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = XLMRobertaModel(config)
    config.save_pretrained(folder)
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    _write(folder / "sentence_bert_config.json", {"max_seq_length": max_tokens})
    modes = {"cls": "pooling_mode_cls_token", "mean": "pooling_mode_mean_tokens"}
    flags = {flag: name == pooling for name, flag in modes.items()}
    _write(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": DIMENSION, **flags})
    parts = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    modules = [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for i, (path, kind) in enumerate(parts)
    ]
    _write(folder / "modules.json", modules)
    return folder


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
