"""Models of a hundred kilobytes with the architectures of the real ones, made in a moment.

The body is random and stays so. The head of a cross-encoder is solved for, so that it gives each of
the pairs it is made with the answer that the test wants; on other pairs it says anything.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

Pair = tuple[str, str]
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
CONFIDENT = 5.0
"""The logit of a wanted answer; the others get its negative."""


def nli_model(
    folder: Path, answers: Mapping[Pair, str], *, labels: Sequence[str], longest: int = 64
) -> Path:
    """Save a model of the DeBERTa-v2 kind that answers these pairs with these labels."""
    from transformers import DebertaV2Config, DebertaV2ForSequenceClassification

    texts = [text for pair in answers for text in pair]
    config = DebertaV2Config(
        **_body(texts, longest),
        relative_attention=True,
        pos_att_type=["p2c", "c2p"],
        position_buckets=16,
        pooler_hidden_size=64,
        pooler_dropout=0.0,
        id2label=dict(enumerate(labels)),
        label2id={label: number for number, label in enumerate(labels)},
    )
    wanted = np.full((len(answers), len(labels)), -CONFIDENT)
    for row, label in enumerate(answers.values()):
        wanted[row, labels.index(label)] = CONFIDENT
    model = _seeded(DebertaV2ForSequenceClassification, config)
    return _saved(folder, model, list(answers), wanted, longest)


def reranker_model(
    folder: Path, scores: Mapping[Pair, float], *, longest: int = 64, activation: str | None = None
) -> Path:
    """Save a model of the BERT kind that gives these pairs these scores in (0, 1)."""
    from transformers import BertConfig, BertForSequenceClassification

    texts = [text for pair in scores for text in pair]
    config = BertConfig(**_body(texts, longest), num_labels=1)
    if activation is not None:
        config.sentence_transformers = {"activation_fn": activation, "version": "5.0.0"}
    values = np.array(list(scores.values()))
    wanted = np.log(values / (1 - values)).reshape(-1, 1)
    model = _seeded(BertForSequenceClassification, config)
    return _saved(folder, model, list(scores), wanted, longest)


def embedder_model(
    folder: Path,
    texts: Sequence[str],
    *,
    prompts: Mapping[str, str] | None = None,
    spoil: Callable[[object], object] | None = None,
) -> Path:
    """Save a sentence-transformers model of the BERT kind, 64 wide, that knows these words.

    ``spoil`` changes the body before it is saved.
    """
    import torch
    from transformers import BertConfig, BertModel

    model = _seeded(BertModel, BertConfig(**_body(texts, 64)))
    if spoil is not None:
        with torch.no_grad():
            spoil(model)
    model.save_pretrained(folder)
    _tokenizer(texts, 64).save_pretrained(folder)
    modules = {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}
    settings = {
        "modules.json": [
            {"idx": n, "name": str(n), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for n, (path, kind) in enumerate(modules.items())
        ],
        "1_Pooling/config.json": {"word_embedding_dimension": 64, "pooling_mode_mean_tokens": True},
        "config_sentence_transformers.json": {"prompts": prompts or {}},
    }
    for name, value in settings.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(value), encoding="utf-8")
    return folder


def _body(texts: Sequence[str], longest: int) -> dict[str, object]:
    return {
        "vocab_size": len(_vocabulary(texts)),
        "hidden_size": 64,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": longest,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
        # Wide, so that different pairs end far apart.
        "initializer_range": 0.5,
    }


def _seeded(kind, config):
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(0)
        return kind(config).eval()


def _saved(folder, model, pairs, wanted, longest) -> Path:
    """Solve for the head, whose inputs a hook collects, and save model and tokenizer."""
    import torch

    head = model.classifier
    texts = [text for pair in pairs for text in pair]
    tokenizer = _tokenizer(texts, longest)
    inputs = []
    hook = head.register_forward_pre_hook(lambda _, args: inputs.append(args[0].detach().numpy()))
    with torch.no_grad():
        for first, second in pairs:
            model(**tokenizer(first, second, truncation=True, return_tensors="pt"))
    hook.remove()
    seen = np.concatenate(inputs).astype(np.float64)
    padded = np.concatenate([seen, np.ones((len(seen), 1))], axis=1)
    solution = np.linalg.lstsq(padded, wanted, rcond=None)[0]
    with torch.no_grad():
        head.weight.copy_(torch.tensor(solution[:-1].T))
        head.bias.copy_(torch.tensor(solution[-1]))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _vocabulary(texts: Sequence[str]) -> dict[str, int]:
    from tokenizers.pre_tokenizers import BertPreTokenizer

    splitter = BertPreTokenizer()
    words = (word for text in texts for word, _ in splitter.pre_tokenize_str(text.lower()))
    return {word: number for number, word in enumerate(dict.fromkeys((*SPECIAL, *words)))}


def _tokenizer(texts: Sequence[str], longest: int):
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordLevel(_vocabulary(texts), unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=longest,
    )
