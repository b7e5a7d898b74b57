# SPDX-License-Identifier: MIT
"""Beside STAGE's traces of a llama (dp 2, tp 2, pp 2): the same work and traffic, but for what docs say."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import chakra_core as cc
from generated_traffic import flops, sent
from shared_data import SHARED, needs

FOLDER = SHARED / "data" / "et" / "stage_llama_dp2_tp2_pp2"
VOCABULARY, HIDDEN, FFN, TOKENS = 32000, 8192, 28672, 32 * 1024
#: STAGE's MLP has no gate, and it counts a multiplication and an addition as one operation, and elements for bytes.
MODEL = cc.generate.TransformerModel(layers=4, hidden=HIDDEN, heads=64, ffn=FFN, vocabulary=VOCABULARY, gated=False)
RUN = cc.generate.transformer(
    MODEL,
    dp=2,
    tp=2,
    pp=2,
    sequence_parallel=True,
    order="dp-tp-pp-cp",
    sequence=1024,
    micro_batch=32,
    element_bytes=1,
    gradient_bytes=1,
)


def stage_traffic(trace: cc.Trace) -> Counter[tuple[str, str]]:
    """STAGE's bytes by kind of group; its groups of tensor parallelism are those whose members are two apart."""
    groups = cc.CommGroups.load(FOLDER / "workload.json").groups
    total: Counter[tuple[str, str]] = Counter()
    for node_id in trace.ids[np.asarray(trace.types) >= cc.NodeType.COMM_SEND_NODE]:
        node = trace.node(int(node_id))
        if node.type == cc.NodeType.COMM_COLL_NODE:
            first, second = groups[node.attrs["pg_name"]]
            kind = "tp" if second - first == 2 else "dp"
            total[kind, cc.CollectiveType(node.attrs["comm_type"]).name.lower()] += node.attrs["comm_size"]
        else:
            total["pp", "send" if node.type == cc.NodeType.COMM_SEND_NODE else "receive"] += node.attrs["comm_size"]
    return total


@needs(FOLDER)
@pytest.mark.parametrize("rank", range(8))
def test_same_matrix_products(rank: int) -> None:
    theirs = flops(cc.load(FOLDER / f"workload.{rank}.et"), "M")
    ours = flops(RUN.trace(rank), "matmul")
    # STAGE multiplies one-hot vectors with the embedding, and makes a gradient for them too.
    embedding = 3 * TOKENS * HIDDEN * VOCABULARY // 2 if rank < 4 else 0
    assert ours == 2 * (theirs - embedding)


@needs(FOLDER)
@pytest.mark.parametrize("rank", range(8))
def test_same_traffic(rank: int) -> None:
    theirs = stage_traffic(cc.load(FOLDER / f"workload.{rank}.et"))
    expected = Counter(theirs)
    activations, is_first = TOKENS * HIDDEN, rank < 4
    # STAGE has all of the embedding and of the output matrix on each rank, and reduces their gradients over both kinds
    # of groups; here each tensor-parallel rank has half, for which activations are exchanged.
    matrix = VOCABULARY * HIDDEN
    expected["dp", "all_reduce"] -= matrix // 2
    expected["tp", "all_reduce"] -= matrix
    expected["tp", "reduce_scatter"] += activations
    expected["tp", "all_gather"] += activations // 2 * (1 if is_first else 2)
    # It has no parameters in norms; here they are reduced over both kinds, as is the loss over the split vocabulary.
    norms = (2 * 2 + (0 if is_first else 1)) * HIDDEN
    expected["dp", "all_reduce"] += norms
    expected["tp", "all_reduce"] += norms + (0 if is_first else 12 * TOKENS)
    assert sent(RUN, RUN.trace(rank)) == expected
