"""MiniLM through onnxruntime, for bulk work: the same weights, the same vectors to 1e-5.

The graph is built here from a description; its tensors stay in ``model.safetensors``, which
onnxruntime maps, so the graph's own file has a few kilobytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from memory_palace.embedding.minilm_forward import DIMENSION, HEAD_WIDTH, HEADS, LAYERS
from memory_palace.embedding.tensor_file import TensorFile
from memory_palace.embedding.weights import MODEL
from memory_palace.models import Matrix
from memory_palace.storage.atomic import is_named_by_content, remove_files, write_content

OPSET = 20
"""The first with ``Gelu``."""
GRAPH = "minilm-graph-1-{}.onnx"
"""Named by its content. Raise the number when the graph changes."""


def is_onnx_installed() -> bool:
    """Whether the extra [onnx] is here; imports nothing."""
    return find_spec("onnx") is not None and find_spec("onnxruntime") is not None


class OnnxMiniLM:
    """A session over the graph beside the weights, which is built if it does not verify."""

    def __init__(self, folder: Path) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        # Batches differ in shape: a plan of memory per shape would cost more than it saves.
        options.enable_mem_pattern = False
        self._session = onnxruntime.InferenceSession(
            str(_find_graph(folder) or _write_graph(folder)),
            options,
            providers=["CPUExecutionProvider"],
        )

    def embed(self, sequences: Sequence[Sequence[int]]) -> Matrix:
        """Return the unit vector of each sequence of ids, start and end included."""
        ids = np.zeros((len(sequences), max(map(len, sequences))), dtype=np.int64)
        mask = np.zeros(ids.shape, dtype=np.float32)
        for row, sequence in enumerate(sequences):
            ids[row, : len(sequence)] = sequence
            mask[row, : len(sequence)] = 1
        vectors: Matrix = self._session.run(None, {"ids": ids, "mask": mask})[0]
        return vectors


def _find_graph(folder: Path) -> Path | None:
    return next(filter(is_named_by_content, folder.glob(GRAPH.format("*"))), None)


def _write_graph(folder: Path) -> Path:
    remove_files(folder.glob(GRAPH.format("*")))
    data = build_graph(TensorFile(folder / MODEL.name)).SerializeToString(deterministic=True)
    return write_content(folder, lambda file: file.write(data), GRAPH)


def build_graph(tensors: TensorFile) -> Any:
    """Return the model as ONNX; its tensors are named by their place in the weights' file."""
    from onnx import TensorProto, helper

    graph = _Graph(tensors)
    graph.add_embedding()
    for number in range(LAYERS):
        graph.add_layer(f"encoder.layer.{number}")
    graph.add_pooling()
    shape = ["texts", "tokens"]
    return helper.make_model(
        helper.make_graph(
            graph.nodes,
            "minilm",
            [
                helper.make_tensor_value_info("ids", TensorProto.INT64, shape),
                helper.make_tensor_value_info("mask", TensorProto.FLOAT, shape),
            ],
            [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", DIMENSION])],
            graph.tensors,
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=9,
    )


class _Graph:
    """Nodes and tensors of the graph so far.

    States are ``(texts · tokens, 384)`` between the layers; ``_states`` names the last ones.
    """

    def __init__(self, tensors: TensorFile) -> None:
        self._file = tensors
        self.nodes: list[Any] = []
        self.tensors: list[Any] = []
        self._states = self._bias = self._by_head = self._by_text = ""

    def add_embedding(self) -> None:
        """Sum word, position and type, and turn the mask into a bias of attention."""
        words = self._node("Gather", self._weight("embeddings.word_embeddings.weight"), "ids")
        length = self._node("Shape", "ids", start=1, end=2)
        positions = self._node(
            "Slice",
            self._weight("embeddings.position_embeddings.weight"),
            self._integers("first", [0]),
            length,
        )
        kind = self._node(
            "Gather",
            self._weight("embeddings.token_type_embeddings.weight"),
            self._integers("type", [0]),
        )
        states = self._node("Add", self._node("Add", words, positions), kind)
        states = self._node("Reshape", states, self._integers("flat", [-1, DIMENSION]))
        self._states = self._normalize(states, "embeddings.LayerNorm")
        heads = self._integers("heads", [HEADS, HEAD_WIDTH])
        self._by_head = self._node("Concat", self._node("Shape", "ids"), heads, axis=0)
        width = self._integers("width", [DIMENSION])
        self._by_text = self._node("Concat", self._node("Shape", "ids"), width, axis=0)
        self._floats("scale", [HEAD_WIDTH**-0.5])
        absent = self._node("Sub", "mask", self._floats("one", [1]))
        absent = self._node("Unsqueeze", absent, self._integers("attended", [1, 2]))
        self._bias = self._node("Mul", absent, self._floats("large", [1e9]))

    def add_layer(self, prefix: str) -> None:
        """Add one transformer layer."""
        attention, by_head = f"{prefix}.attention.self", self._by_head
        query, key, value = (
            self._node(
                "Transpose",
                self._node("Reshape", self._linear(self._states, f"{attention}.{name}"), by_head),
                perm=order,
            )
            for name, order in (
                ("query", [0, 2, 1, 3]),
                ("key", [0, 2, 3, 1]),
                ("value", [0, 2, 1, 3]),
            )
        )
        scores = self._node("Mul", self._node("MatMul", query, key), "scale")
        weights = self._node("Softmax", self._node("Add", scores, self._bias), axis=-1)
        context = self._node("Transpose", self._node("MatMul", weights, value), perm=[0, 2, 1, 3])
        context = self._node("Reshape", context, "flat")
        states = self._linear(context, f"{prefix}.attention.output.dense")
        states = self._node("Add", states, self._states)
        states = self._normalize(states, f"{prefix}.attention.output.LayerNorm")
        wide = self._node("Gelu", self._linear(states, f"{prefix}.intermediate.dense"))
        narrow = self._node("Add", self._linear(wide, f"{prefix}.output.dense"), states)
        self._states = self._normalize(narrow, f"{prefix}.output.LayerNorm")

    def add_pooling(self) -> None:
        """Average the states of real tokens, and give the average unit length."""
        column = self._node("Unsqueeze", "mask", self._integers("last", [2]))
        states = self._node("Mul", self._node("Reshape", self._states, self._by_text), column)
        tokens = self._integers("tokens", [1])
        summed = self._node("ReduceSum", states, tokens, keepdims=0)
        length = self._node("ReduceL2", summed, tokens, keepdims=1)
        self._node("Div", summed, length, output="vectors")

    def _linear(self, states: str, name: str) -> str:
        # The file has (out, in). MatMul over a transposed weight would not be packed at the start.
        weight, bias = self._weight(f"{name}.weight"), self._weight(f"{name}.bias")
        return self._node("Gemm", states, weight, bias, transB=1)

    def _normalize(self, states: str, name: str) -> str:
        gain, bias = self._weight(f"{name}.weight"), self._weight(f"{name}.bias")
        return self._node("LayerNormalization", states, gain, bias, axis=-1, epsilon=1e-12)

    def _node(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        from onnx import helper

        name = output or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def _weight(self, name: str) -> str:
        """Refer to a tensor of the weights' file, which lies in the same folder."""
        from onnx import TensorProto

        tensor = TensorProto(
            name=name,
            data_type=TensorProto.FLOAT,
            dims=self._file[name].shape,
            data_location=TensorProto.EXTERNAL,
        )
        place = {
            "location": MODEL.name,
            "offset": self._file.offset(name),
            "length": self._file[name].nbytes,
        }
        for key, value in place.items():
            tensor.external_data.add(key=key, value=str(value))
        self.tensors.append(tensor)
        return name

    def _integers(self, name: str, values: Sequence[int]) -> str:
        return self._constant(name, np.array(values, dtype=np.int64))

    def _floats(self, name: str, values: Sequence[float]) -> str:
        return self._constant(name, np.array(values, dtype=np.float32))

    def _constant(self, name: str, values: Any) -> str:
        from onnx import numpy_helper

        self.tensors.append(numpy_helper.from_array(values, name))
        return name
