# SPDX-License-Identifier: MIT
"""Parameter counts against what is published, and against the sum over ranks."""

from __future__ import annotations

import pytest

import chakra_core as cc
from chakra_core.generate import Parallelism, TransformerModel, preset, preset_names, transformer

#: Of the published weights (safetensors of the model cards), or of the paper where it is rounded.
PUBLISHED = {
    "gpt2-small": 124_439_808,
    "gpt2-xl": 1_557_611_200,
    "llama2-7b": 6_738_415_616,
    "llama2-13b": 13_015_864_320,
    "llama2-70b": 68_976_648_192,
    "llama3-8b": 8_030_261_248,
    "llama3-70b": 70_553_706_496,
    "llama3-405b": 405_853_388_800,
    "mixtral-8x7b": 46_702_792_704,
    "mixtral-8x22b": 140_620_634_112,
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_presets_have_the_published_parameters(name: str) -> None:
    assert preset(name).parameters() == PUBLISHED[name]


def test_gpt3_has_175_billion() -> None:
    assert preset("gpt3-175b").parameters() == pytest.approx(175e9, rel=0.003)
    assert {*PUBLISHED, "gpt3-175b"} == set(preset_names())


def test_mixtral_uses_a_part_for_each_token() -> None:
    assert preset("mixtral-8x7b").active_parameters() == pytest.approx(12.9e9, rel=0.002)
    assert preset("llama3-8b").active_parameters() == preset("llama3-8b").parameters()


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"hidden": 100, "heads": 3}, "'hidden' 100 is no multiple of 'heads' 3"),
        ({"kv_heads": 3}, "'heads' 32 is no multiple of 'kv-heads' 3"),
        ({"experts": 4}, "expected both 0"),
        ({"layers": 0}, "'layers': found 0"),
    ],
)
def test_models_that_do_not_fit_themselves(changes: dict[str, int], text: str) -> None:
    with pytest.raises(cc.ConfigError, match=text):
        preset("llama3-8b", **changes)


def test_unknown_preset_lists_those_there_are() -> None:
    with pytest.raises(cc.ConfigError, match="no model 'llama9', only gpt2-small"):
        preset("llama9")


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"ep": 3, "dp": 4}, "'ep' 3 does not divide 'dp' 4"),
        ({"virtual_stages": 2, "pp": 2}, "'interleaved' needs 2 or more"),
        ({"schedule": "interleaved", "virtual_stages": 2}, "there is no pipeline"),
        ({"sequence_parallel": True}, "'tp' is 1"),
        ({"order": "tp-dp"}, "'order': found 'tp-dp'"),
    ],
)
def test_parallelism_that_does_not_fit_itself(changes: dict[str, object], text: str) -> None:
    with pytest.raises(cc.ConfigError, match=text):
        Parallelism(**changes)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"tp": 3}, "heads 4 cannot be divided by tp 3"),
        ({"cp": 3}, "sequence 64 cannot be divided by cp 3"),
        ({"ep": 2, "dp": 2}, "the model has no experts"),
        ({"pp": 8}, "needs as many layers"),
        ({"pp": 2, "schedule": "interleaved", "virtual_stages": 2, "micro_batches": 3}, "no multiple of that"),
        ({"phase": "decode", "cp": 2}, "nothing to split"),
        ({"phase": "prefill", "zero": 1}, "it is about training"),
        ({"speed": 2}, "unknown setting speed"),
        ({"phase": "dream"}, "'phase': found 'dream'"),
    ],
)
def test_runs_that_do_not_fit(settings: dict[str, object], text: str) -> None:
    model = {"layers": 4, "hidden": 32, "heads": 4, "ffn": 64, "vocabulary": 100}
    with pytest.raises(cc.ConfigError, match=text):
        transformer(model, **{"sequence": 64, **settings})


def test_ranks_of_a_replica_hold_the_model_once() -> None:
    model = TransformerModel(layers=6, hidden=64, heads=8, ffn=128, vocabulary=128, experts=4, experts_per_token=2)
    run = transformer(model, tp=4, pp=3, dp=2, ep=2, sequence=64)
    bytes_held = sum(run.memory(rank).parameters for rank in range(run.num_ranks))
    # Norms and routers are on every tensor-parallel rank; what is no expert, on both data-parallel ones.
    repeated = 6 * (2 * model.norm_parameters() + model.router_parameters()) + model.norm_parameters()
    experts = 6 * 4 * model.expert_parameters()
    assert bytes_held == 2 * (2 * (model.parameters() - experts + 3 * repeated) + experts)


def test_order_of_the_axes_is_that_of_the_rank_numbers() -> None:
    spread = Parallelism(tp=2, dp=3, pp=2, order="dp-tp-pp-cp")
    places = [spread.coordinates(rank) for rank in range(12)]
    assert [place["dp"] for place in places] == [0, 1, 2] * 4
    assert [place["tp"] for place in places] == [0, 0, 0, 1, 1, 1] * 2
    assert [spread.rank(place) for place in places] == list(range(12))


def test_groups_divide_the_ranks() -> None:
    model = preset("mixtral-8x7b", layers=4, tied_embeddings=True)
    run = transformer(model, tp=2, cp=2, dp=4, pp=2, ep=2, sequence=64)
    sizes = {"tp": 2, "cp": 2, "dp": 8, "ep": 2, "edp": 4, "embedding": 2}
    for kind, size in sizes.items():
        groups = [run.groups.groups[name] for name, one in run.group_kinds.items() if one == kind]
        assert {len(group) for group in groups} == {size}
        assert sorted(rank for group in groups for rank in group) == list(range(32))


def test_ranks_that_share_experts_hold_different_ones() -> None:
    run = transformer(preset("mixtral-8x7b", layers=4), tp=2, cp=2, dp=4, pp=2, ep=2, sequence=64)
    groups = {
        kind: [set(run.groups.groups[name]) for name, one in run.group_kinds.items() if one == kind]
        for kind in ("ep", "edp", "dp")
    }
    assert all(len(sharing & replicas) <= 1 for sharing in groups["ep"] for replicas in groups["edp"])
    # Replicas of experts are among the replicas of all else, and so are those who share experts.
    for group in (*groups["ep"], *groups["edp"]):
        assert any(group <= replicas for replicas in groups["dp"])
