# SPDX-License-Identifier: MIT
"""Generated transformers against the formulas of the papers, the checks of a run, and the simulator."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chakra_core as cc
from chakra_core.generate import TransformerModel, TransformerRun, preset, transformer
from generated_traffic import flops, network, sent

GPT = TransformerModel(
    layers=4, hidden=64, heads=8, ffn=256, vocabulary=512, gated=False, biases=True, positions=32, tied_embeddings=True
)
LLAMA = TransformerModel(layers=4, hidden=64, heads=8, kv_heads=4, ffn=96, vocabulary=512)
MOE = TransformerModel(layers=4, hidden=64, heads=8, kv_heads=4, ffn=96, vocabulary=512, experts=4, experts_per_token=2)


def matmul_flops(run: TransformerRun) -> int:
    return sum(flops(trace, "matmul", "attention") for trace in run.traces)


@pytest.mark.parametrize("spread", [{}, {"tp": 4}, {"tp": 2, "pp": 2, "dp": 2, "sequence_parallel": True}, {"cp": 2}])
def test_gpt_step_has_the_operations_of_narayanan(spread: dict[str, Any]) -> None:
    """Narayanan et al. 2021, equation 3: with recomputation of all layers."""
    run = transformer(GPT, sequence=32, micro_batch=2, micro_batches=3, recompute="full", **spread)
    batch, s, layers, h, vocabulary = 6 * run.parallelism.dp, 32, 4, 64, 512
    per_layer = 96 * batch * s * layers * h**2 * (1 + s / (6 * h) + vocabulary / (16 * layers * h))
    assert matmul_flops(run) == per_layer


@pytest.mark.parametrize("model", [LLAMA, MOE])
@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
def test_step_is_three_forward_passes_and_what_is_recomputed(model: TransformerModel, recompute: str) -> None:
    spread = {"tp": 2, "pp": 2, "dp": 2, "sequence_parallel": True, "ep": 2 if model.is_moe else 1}
    run = transformer(model, sequence=32, micro_batches=2, recompute=recompute, **spread)
    tokens = 2 * 2 * 32
    core = 4 * 32 * 64
    weights = model.active_parameters() - (2 * 4 + 1) * 64 - 512 * 64
    head = 512 * 64
    again = {"none": 0, "selective": 4 * core, "full": 4 * core + 2 * (weights - head)}[recompute]
    assert matmul_flops(run) == tokens * (3 * (2 * weights + 4 * core) + again)


def test_causal_attention_halves_its_core() -> None:
    whole, half = (transformer(LLAMA, sequence=32, causal_attention=causal).trace(0) for causal in (False, True))
    assert flops(whole, "attention") == 2 * flops(half, "attention")
    assert flops(whole, "matmul") == flops(half, "matmul")


@pytest.mark.parametrize("zero", [0, 1, 2, 3])
def test_data_parallel_bytes_are_those_of_zero(zero: int) -> None:
    """Rajbhandari et al. 2020, section 7: a step moves 2, 2, 2 and 3 times the parameters; 2 and 3 each micro-batch."""
    replicas, batches = 4, 3
    run = transformer(LLAMA, dp=replicas, sequence=32, micro_batches=batches, zero=zero)
    size = 2 * LLAMA.parameters()
    total = sent(run, run.trace(0))
    gathered = total["dp", "all_gather"] * replicas
    embedding = 2 * LLAMA.embedding_parameters()
    if zero == 0:
        assert total == Counter({("dp", "all_reduce"): size})
        return
    assert total["dp", "reduce_scatter"] == (size if zero == 1 else batches * size)
    # The embedding's rows are not needed for its own gradient.
    assert gathered == (size if zero < 3 else batches * (2 * size - embedding))


@pytest.mark.parametrize("bucket_bytes", [0, 100_000, 10**9])
def test_buckets_change_the_number_of_reductions_only(bucket_bytes: int) -> None:
    run = transformer(LLAMA, dp=2, sequence=32, bucket_bytes=bucket_bytes)
    trace = run.trace(0)
    assert sent(run, trace)["dp", "all_reduce"] == 2 * LLAMA.parameters()
    layer = 2 * LLAMA.layer_parameters()
    reductions = int((np.asarray(trace.types) == cc.NodeType.COMM_COLL_NODE).sum())
    assert reductions == {0: 6, 100_000: 3, 10**9: 1}[bucket_bytes]
    assert layer < 100_000 < 2 * layer + 2 * 512 * 64


def test_reductions_overlap_with_the_backward_pass() -> None:
    run = transformer(LLAMA, dp=4, sequence=32, device={"peak_flops": 1e12, "memory_bandwidth": 1e12})
    result = cc.simulate(run.traces, network=network(4), comm_groups=run.groups)
    assert result.exposed_comm_ns[0] < result.comm_ns[0]


def test_parameters_are_gathered_one_part_ahead() -> None:
    trace = transformer(LLAMA, dp=2, sequence=32, zero=3).trace(0)
    ids = {name: int(node) for node, name in zip(trace.ids, trace.names.to_list(), strict=True)}
    for layer in (2, 3):
        gather = trace.node(ids[f"mb0.layer{layer}.parameters.all_gather"])
        assert gather.data_deps.tolist() == [ids[f"mb0.layer{layer - 2}.mlp_add"]]
        first = trace.node(ids[f"mb0.layer{layer}.attention_norm"])
        assert set(first.data_deps.tolist()) == {gather.id, ids[f"mb0.layer{layer - 1}.mlp_add"]}
    gather = trace.node(ids["mb0.layer1.backward.parameters.all_gather"])
    assert gather.data_deps.tolist() == [ids["mb0.layer3.backward.attention_norm_backward"]]


def test_tensor_parallel_bytes_are_those_of_megatron() -> None:
    """Shoeybi et al. 2019: two all-reduces of a layer's activations forward and two backward."""
    run = transformer(LLAMA, tp=4, sequence=32, micro_batch=2, micro_batches=3)
    activations = 2 * 2 * 32 * 64
    total = sent(run, run.trace(0))
    tokens = 2 * 32
    embedding_and_head = 2 * activations
    loss = (4 + 8) * tokens
    assert total == Counter({("tp", "all_reduce"): 3 * (4 * 4 * activations + embedding_and_head + loss)})


def test_sequence_parallel_moves_the_same_and_gathers_again() -> None:
    """Korthikanti et al. 2022: all-gather and reduce-scatter for each all-reduce; kept parts are gathered again."""
    run = transformer(LLAMA, tp=4, sequence=32, sequence_parallel=True)
    activations = 2 * 32 * 64
    total = sent(run, run.trace(0))
    assert total["tp", "reduce_scatter"] == 4 * 4 * activations + 2 * activations
    again = 2 * 4 + 1
    assert total["tp", "all_gather"] * 4 == (4 * 4 + 2 + again) * activations
    norms = 2 * (2 * 4 + 1) * 64
    assert total["tp", "all_reduce"] == 12 * 32 + norms


def test_context_parallel_gathers_keys_and_scatters_their_gradients() -> None:
    run = transformer(LLAMA, cp=4, sequence=32)
    keys = 2 * 2 * 32 * 4 * 8
    total = sent(run, run.trace(0))
    assert total["cp", "all_gather"] * 4 == 4 * 2 * keys
    assert total["cp", "reduce_scatter"] == 4 * keys
    assert total["dp", "all_reduce"] == 2 * LLAMA.parameters()


def test_experts_exchange_each_copy_of_a_token_four_times() -> None:
    run = transformer(MOE, dp=4, ep=2, sequence=32)
    total = sent(run, run.trace(0))
    assert total["ep", "all_to_all"] == 4 * 4 * (2 * 32 * 2 * 64)
    experts = 4 * 4 * MOE.expert_parameters()
    assert total["edp", "all_reduce"] == 2 * experts // 2
    assert total["dp", "all_reduce"] == 2 * (MOE.parameters() - experts)


def test_stages_send_activations_and_gradients() -> None:
    run = transformer(GPT, pp=4, tp=2, sequence=32, micro_batches=5)
    activations = 2 * 32 * 64
    for rank, times in ((0, 1), (2, 2), (4, 2), (6, 1)):
        total = sent(run, run.trace(rank))
        assert total["pp", "send"] == total["pp", "receive"] == times * 5 * activations
        shared = 2 * 512 * 64 // 2 if rank in (0, 6) else 0
        assert total["embedding", "all_reduce"] == shared


# In these the embedding and the output layer cost next to nothing, so that all stages take one time.
EVEN = TransformerModel(layers=8, hidden=1024, heads=8, ffn=4096, vocabulary=8)
DEVICE = {"peak_flops": 1e12, "memory_bandwidth": 1e15}


@pytest.mark.parametrize(
    ("schedule", "stages", "chunks", "batches"),
    [
        ("gpipe", 4, 1, 4),
        ("gpipe", 2, 1, 7),
        ("1f1b", 4, 1, 4),
        ("1f1b", 4, 1, 12),
        ("1f1b", 8, 1, 3),
        ("interleaved", 4, 2, 4),
        ("interleaved", 4, 2, 12),
        ("interleaved", 2, 4, 6),
    ],
)
def test_bubble_is_that_of_the_schedule(schedule: str, stages: int, chunks: int, batches: int) -> None:
    """Narayanan et al. 2021, section 2.2: (p - 1) / m of the ideal time, a v-th of it with v chunks a stage."""
    run = transformer(
        EVEN,
        pp=stages,
        schedule=schedule,
        virtual_stages=chunks,
        sequence=256,
        micro_batches=batches,
        device=DEVICE,
    )
    result = cc.simulate(run.traces, network=network(stages, fast=True))
    ideal = int(result.compute_ns.max())
    bubble = (result.total_ns - ideal) / ideal
    assert bubble == pytest.approx((stages - 1) / (batches * chunks), rel=0.02, abs=0.002)


@st.composite
def runs(draw: st.DrawFn) -> TransformerRun:
    """Small runs of all sorts that fit."""
    model = draw(st.sampled_from([GPT, LLAMA, MOE]))
    tp, pp, cp = draw(st.sampled_from([1, 2, 4])), draw(st.sampled_from([1, 2, 3])), draw(st.sampled_from([1, 2]))
    dp = draw(st.sampled_from([1, 2, 4]))
    ep = draw(st.sampled_from([one for one in (1, 2, 4) if dp % one == 0])) if model.is_moe else 1
    schedule = draw(st.sampled_from(["gpipe", "1f1b", "interleaved"] if pp == 2 else ["gpipe", "1f1b"]))
    return transformer(
        model,
        tp=tp,
        pp=pp,
        cp=cp,
        dp=dp,
        ep=ep,
        sequence_parallel=tp > 1 and draw(st.booleans()),
        zero=draw(st.integers(0, 3)),
        schedule=schedule,
        virtual_stages=2 if schedule == "interleaved" else 1,
        order=draw(st.sampled_from(["tp-cp-dp-pp", "dp-tp-cp-pp", "pp-dp-cp-tp"])),
        sequence=32,
        micro_batches=draw(st.sampled_from([2, 4])),
        recompute=draw(st.sampled_from(["none", "selective", "full"])),
        bucket_bytes=draw(st.sampled_from([0, 100_000])),
        device={"peak_flops": 1e12, "memory_bandwidth": 1e12},
    )


@given(run=runs())
@settings(max_examples=25, deadline=None)
def test_every_run_is_sound_and_comes_to_its_end(run: TransformerRun) -> None:
    traces = run.traces
    assert sum(map(len, traces)) == run.num_nodes
    assert all(trace.validate().ok for trace in traces)
    agreement = cc.check_ranks(traces, comm_groups=run.groups)
    assert agreement.ok, agreement.text
    result = cc.simulate(traces, network=network(run.num_ranks), comm_groups=run.groups)
    assert len(result.nodes()["id"]) == run.num_nodes
    held = sum(run.memory(rank).optimizer for rank in range(run.num_ranks))
    assert held >= 12 * run.model.parameters() * (
        1 if run.parallelism.zero else run.parallelism.dp // run.parallelism.ep
    )


@pytest.mark.parametrize("stages", [1, 3])
def test_decoding_attends_to_a_growing_cache(stages: int) -> None:
    run = transformer(LLAMA, phase="decode", pp=stages, tp=2, sequence=100, decode_steps=4, micro_batch=3)
    cores = [4 * 3 * context * 64 for context in (101, 102, 103, 104)]
    assert sum(flops(trace, "attention") for trace in run.traces) == 4 * sum(cores)
    weights = LLAMA.parameters() - 512 * 64 - 9 * 64
    assert sum(flops(trace, "matmul") for trace in run.traces) == 4 * 3 * 2 * weights
    assert cc.check_ranks(run.traces, comm_groups=run.groups).ok
    result = cc.simulate(run.traces, network=network(run.num_ranks), comm_groups=run.groups)
    assert len(result.nodes()["id"]) == run.num_nodes
    assert sum(run.memory(rank).cache for rank in range(run.num_ranks)) == 4 * 2 * 3 * 104 * 32 * 2


@pytest.mark.parametrize("spread", [{}, {"pp": 2, "tp": 2, "cp": 2, "sequence_parallel": True}])
def test_prefill_is_a_forward_pass(spread: dict[str, Any]) -> None:
    run = transformer(LLAMA, phase="prefill", sequence=64, micro_batch=2, micro_batches=2, **spread)
    weights = LLAMA.parameters() - 2 * 512 * 64 - 9 * 64
    tokens, context = 4 * 64, 64
    layers = tokens * (2 * weights + 4 * 4 * context * 64)
    # Each rank that shares the sequence looks for the next token.
    head = run.parallelism.cp * 4 * 2 * 512 * 64
    assert matmul_flops(run) == layers + head
    assert cc.check_ranks(run.traces, comm_groups=run.groups).ok
    cc.simulate(run.traces, network=network(run.num_ranks), comm_groups=run.groups)


def test_activations_are_those_of_korthikanti() -> None:
    """Korthikanti et al. 2022, table 2: bytes of a layer, in 16 bits and with dropout."""
    model = preset("gpt3-175b", layers=4)
    s, b, h, a, t = 2048, 2, 12288, 96, 8

    def layer(**settings: Any) -> int:
        spread = {"tp": t, "flash_attention": False, "sequence": s, "micro_batch": b, **settings}
        return transformer(model, **spread).memory(0).activations // 4

    assert layer(tp=1) == s * b * h * (34 + 5 * a * s / h)
    assert layer() == s * b * h * (10 + 24 / t + 5 * a * s / (h * t))
    assert layer(sequence_parallel=True) == s * b * h / t * (34 + 5 * a * s / h)
    assert layer(sequence_parallel=True, recompute="selective") == s * b * h / t * 34
    assert layer(recompute="full") == s * b * h * 2


def test_stages_hold_what_their_schedule_lets_them() -> None:
    def held(stage: int, **settings: Any) -> float:
        run = transformer(EVEN, pp=4, sequence=64, micro_batches=8, **settings)
        one = transformer(EVEN, pp=8, sequence=64, micro_batches=1)
        return run.memory(stage).activations / one.memory(0).activations

    assert [held(stage, schedule="gpipe") for stage in range(4)] == [16, 16, 16, 16]
    assert [held(stage) for stage in range(4)] == [8, 6, 4, 2]
    # Narayanan et al. 2021: interleaving holds (p - 1) / (p v) more at the first stage.
    assert held(0, schedule="interleaved", virtual_stages=2) == 8 * (1 + 3 / 8)


def test_zero_divides_memory_as_its_paper_says() -> None:
    """Rajbhandari et al. 2020, figure 1: 16, 4 + 12/N, 2 + 14/N and 16/N bytes a parameter."""
    for zero, each in enumerate((16, 4 + 12 / 4, 2 + 14 / 4, 16 / 4)):
        memory = transformer(LLAMA, dp=4, sequence=32, zero=zero).memory(0)
        assert memory.parameters + memory.gradients + memory.optimizer == each * LLAMA.parameters()


def test_files_and_groups_are_what_the_simulator_reads(tmp_path: Path) -> None:
    run = transformer(LLAMA, dp=2, tp=2, pp=2, sequence=32, micro_batches=2)
    paths = run.save(tmp_path / "run")
    assert [path.name for path in paths] == [f"run.{rank}.et" for rank in range(8)]
    loaded = cc.load_run(str(tmp_path / "run.%d.et"))
    assert not any(cc.diff(one, other) for one, other in zip(loaded, run.traces, strict=True))
    options: dict[str, Any] = {"network": network(8)}
    from_files = cc.simulate(loaded, comm_groups=tmp_path / "run.groups.json", **options)
    assert from_files.total_ns == cc.simulate(run.traces, comm_groups=run.groups, **options).total_ns


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        transformer(MOE, dp=2, ep=2, tp=2, sequence=32).save(tmp_path / name)
    for rank in range(4):
        assert (tmp_path / f"a.{rank}.et").read_bytes() == (tmp_path / f"b.{rank}.et").read_bytes()


def test_roofline_of_the_simulator_gives_the_times_of_a_device() -> None:
    settings_: dict[str, Any] = {"dp": 2, "sequence": 256, "micro_batches": 2}
    timed = transformer(EVEN, device={"peak_flops": 1e12, "memory_bandwidth": 1e11}, **settings_)
    counted = transformer(EVEN, **settings_)
    system = cc.System(roofline_enabled=1, peak_perf=1.0, local_mem_bw=100)
    plain = cc.simulate(timed.traces, network=network(2, fast=True), comm_groups=timed.groups)
    roofline = cc.simulate(counted.traces, network=network(2, fast=True), comm_groups=counted.groups, system=system)
    assert int(roofline.compute_ns[0]) == pytest.approx(int(plain.compute_ns[0]), rel=0.001)
