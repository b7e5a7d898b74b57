# SPDX-License-Identifier: MIT
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chakra_core import ConfigError, Link, LinkDamage, Network

GOOD = "topology: [ Ring, Switch ]\nnpus_count: [ 4, 8 ]\nbandwidth: [ 50, 25.5 ]  # GB/s\nlatency: [ 500, 1e3 ]\n"


@pytest.fixture
def network_file(tmp_path: Path) -> Path:
    path = tmp_path / "network.yml"
    path.write_text(GOOD)
    return path


def test_file_and_constructor_agree(network_file: Path) -> None:
    loaded = Network.load(network_file)
    built = Network(topology=["Ring", "Switch"], npus=[4, 8], bandwidth=[50, 25.5], latency=[500, 1000.0])
    assert loaded == built
    assert hash(loaded) == hash(built)
    assert (loaded.num_dims, loaded.num_npus) == (2, 32)
    assert loaded.source == str(network_file)


def test_coerce_takes_objects_dicts_and_paths(network_file: Path) -> None:
    network = Network.load(network_file)
    assert Network.coerce(network) is network
    assert Network.coerce(str(network_file)) == network
    assert Network.coerce(network.model_dump()) == network
    assert Network.coerce(network.model_dump(by_alias=False)) == network
    with pytest.raises(ConfigError, match="expected a Network, a dict or a path, found 5"):
        Network.coerce(5)  # type: ignore[arg-type]


def test_json_network_is_read(tmp_path: Path) -> None:
    path = tmp_path / "network.json"
    path.write_text('{"topology": ["Ring"], "npus_count": [2], "bandwidth": [1], "latency": [0]}')
    assert Network.load(path).num_npus == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("400 Gbit/s", 400e9 / 8 / 2**30),
        ("400Gbps", 400e9 / 8 / 2**30),
        ("50 GB/s", 50e9 / 2**30),
        ("50 GiB/s", 50.0),
        ("1e3", 1000.0),
        (12.5, 12.5),
    ],
)
def test_bandwidth_units(text: object, expected: float) -> None:
    network = Network.coerce({"topology": ["Ring"], "npus": [2], "bandwidth": [text], "latency": [1]})
    assert network.bandwidth == (expected,)


@given(st.integers(0, 10**9), st.sampled_from([("ns", 1), ("us", 1000), ("µs", 1000), ("ms", 10**6), ("s", 10**9)]))
def test_latency_with_unit_is_exact(thousandths: int, unit: tuple[str, int]) -> None:
    text = f"{thousandths // 1000}.{thousandths % 1000:03d} {unit[0]}"
    network = Network.coerce({"topology": ["Ring"], "npus": [2], "bandwidth": [1], "latency": [text]})
    assert network.latency == (thousandths * unit[1] / 1000,)


@pytest.mark.parametrize(
    "text", ["fast", "50 GB", "5 furlong", "", "-", "1 GB/s/s", "__import__('os')", "nan", "inf ns"]
)
def test_bad_quantities_name_the_key(text: str) -> None:
    with pytest.raises(ConfigError, match=r"Network: 'bandwidth'\[0\]: found "):
        Network.coerce({"topology": ["Ring"], "npus": [2], "bandwidth": [text], "latency": [1]})


@given(st.text(max_size=30))
def test_any_text_as_quantity_is_a_number_or_a_config_error(text: str) -> None:
    try:
        network = Network.coerce({"topology": ["Ring"], "npus": [2], "bandwidth": [text], "latency": [1]})
    except ConfigError:
        return
    assert network.bandwidth[0] > 0


@pytest.mark.parametrize(
    ("replace", "by", "message"),
    [
        ("[ 4, 8 ]", "[ 4 ]", "'topology' has 2, 'npus_count' has 1, 'bandwidth' has 2, 'latency' has 2"),
        ("latency: [ 500, 1e3 ]", "", "missing key 'latency'"),
        (
            "Switch",
            "Torus",
            r"'topology'\[1\]: found 'Torus', allowed: 'Ring', 'FullyConnected', 'Switch', 'Mesh' or 'G",
        ),
        ("[ 50, 25.5 ]", "[ 50, 0 ]", r"'bandwidth'\[1\]: found 0, should be greater than 0"),
        ("[ 50, 25.5 ]", "[ 50, -1 ]", r"'bandwidth'\[1\]: found -1, "),
        ("[ 50, 25.5 ]", "[ 50, .inf ]", r"'bandwidth'\[1\]: found inf, "),
        ("[ 50, 25.5 ]", "50", "'bandwidth': found 50, "),
        ("[ 4, 8 ]", "[ 4, true ]", r"'npus_count'\[1\]: found True, "),
        ("[ 4, 8 ]", "[ 4, 8.5 ]", r"'npus_count'\[1\]: found 8.5, "),
        ("[ 4, 8 ]", "[ 4, 0 ]", r"'npus_count'\[1\]: found 0, "),
        ("bandwidth", "bandwith", "unknown key 'bandwith'; did you mean 'bandwidth'"),
        ("latency: [ 500, 1e3 ]", "latency: [ 500, 1e3", "line 5, column 1: malformed YAML"),
        ("latency: [", "bandwidth: [", "line 4: key 'bandwidth' stands there more than once"),
        (GOOD, "", "expected keys with values, found nothing"),
        (GOOD, "[1, 2]", "expected keys with values, found a list"),
        (GOOD, "{topology: [], npus_count: [], bandwidth: [], latency: []}", "'topology' is empty"),
    ],
)
def test_bad_files_name_file_and_key(network_file: Path, replace: str, by: str, message: str) -> None:
    network_file.write_text(GOOD.replace(replace, by))
    with pytest.raises(ConfigError, match=message) as caught:
        Network.load(network_file)
    assert str(caught.value).startswith(str(network_file))


def test_all_problems_are_told_at_once(network_file: Path) -> None:
    network_file.write_text(GOOD.replace("Switch", "Torus").replace("[ 4, 8 ]", "[ 0, 8 ]"))
    with pytest.raises(ConfigError, match=r"2 problems:(.|\n)*Torus(.|\n)*npus_count"):
        Network.load(network_file)


def test_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none.yml: cannot read the file: No such file"):
        Network.load(tmp_path / "none.yml")
    (tmp_path / "binary.yml").write_bytes(b"topology: \xff\xfe")
    with pytest.raises(ConfigError, match=r"binary.yml: not a text file: byte 10 is not UTF-8"):
        Network.load(tmp_path / "binary.yml")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    with pytest.raises(ConfigError, match=r"deep.json: malformed JSON: nested too deeply"):
        Network.load(tmp_path / "deep.json")


def test_values_cannot_be_changed(network_file: Path) -> None:
    network = Network.load(network_file)
    with pytest.raises(ValueError, match="frozen"):
        network.npus = (1,)  # type: ignore[misc]


GRAPH = """
topology: [ Graph ]
npus_count: [ 2 ]
switches: [ leaf, spine ]
links:
- { src: 0, dst: leaf, bandwidth: 50, latency: 500 }
- { src: leaf, dst: spine, bandwidth: 400 Gbit/s, latency: 1.5 us }
- { src: spine, dst: 1, bandwidth: 25, latency: 100 }
- { src: 1, dst: 0, bandwidth: 10, latency: 1, one-way: true }
damage:
- { src: leaf, dst: spine, bandwidth: 0.5 }
"""


def test_graph_file_and_constructor_agree(tmp_path: Path) -> None:
    path = tmp_path / "graph.yml"
    path.write_text(GRAPH)
    built = Network(
        topology=["Graph"],
        npus=[2],
        switches=["leaf", "spine"],
        links=[
            Link(src=0, dst="leaf", bandwidth=50, latency=500),
            {"src": "leaf", "dst": "spine", "bandwidth": "400 Gbit/s", "latency": 1500},
            {"src": "spine", "dst": 1, "bandwidth": 25, "latency": 100},
            {"src": 1, "dst": 0, "bandwidth": 10, "latency": 1, "one_way": True},
        ],
        damage=[LinkDamage(src="leaf", dst="spine", bandwidth=0.5)],
    )
    assert Network.load(path) == built
    assert Network.coerce(built.model_dump()) == built
    assert (built.num_dims, built.num_npus, built.switch_numbers()) == (1, 2, {"leaf": 2, "spine": 3})


@pytest.mark.parametrize(
    ("replace", "by", "message"),
    [
        ("dst: leaf, ", "dst: 2, ", r"'links'\[0\]: found 2, allowed: the NPUs 0 to 1 and the switches leaf, spine"),
        ("dst: leaf, ", "dst: root, ", r"'links'\[0\]: found 'root', allowed: "),
        ("dst: leaf, ", "dst: 0, ", r"'links'\[0\]: both ends are 0"),
        ("dst: leaf, ", "dst: 1.5, ", r"'links'\[0\]\['dst'\]: found 1.5, allowed: the number of an NPU, or the name"),
        ("dst: leaf, ", "dst: true, ", r"'links'\[0\]\['dst'\]: found True, "),
        ("dst: leaf, ", "", r"missing key 'links'\[0\]\['dst'\]"),
        ("one-way", "oneway", r"unknown key 'links'\[3\]\['oneway'\]"),
        ("bandwidth: 50", "bandwidth: 0", r"'links'\[0\]\['bandwidth'\]: found 0, should be greater than 0"),
        (
            "{ src: spine, dst: 1, ",
            "{ src: spine, dst: leaf, ",
            r"'links'\[2\]: a link from 'spine' to 'leaf' is there",
        ),
        ("[ leaf, spine ]", "[ leaf, leaf, spine ]", "'switches': 'leaf' is listed more than once"),
        ("[ leaf, spine ]", "[ leaf, spine, 7 ]", r"'switches'\[2\]: found 7, "),
        ("[ leaf, spine ]", '[ leaf, spine, "7" ]', r"'switches'\[2\]: found '7', "),
        ("[ Graph ]", "[ Graph, Ring ]", "a Graph is all of the network"),
        ("[ Graph ]", "[ Ring ]", "missing key 'bandwidth'"),
        ("damage:", "latency: [ 5 ]\ndamage:", "'latency': the links of a Graph have their own"),
        ("bandwidth: 0.5", "bandwidth: 0.0", r"'damage'\[0\]\['bandwidth'\]: found 0.0, "),
        (
            "{ src: leaf, dst: spine, bandwidth: 0.5",
            "{ dimension: 1",
            r"'damage'\[0\]: found dimension 1, allowed: 0 to 0",
        ),
        ("{ src: leaf, dst: spine, bandwidth: 0.5", "{ src: root", r"'damage'\[0\]: found 'root', allowed: "),
    ],
)
def test_bad_graphs_name_file_and_place(tmp_path: Path, replace: str, by: str, message: str) -> None:
    path = tmp_path / "graph.yml"
    path.write_text(GRAPH.replace(replace, by, 1))
    with pytest.raises(ConfigError, match=message) as caught:
        Network.load(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"oversubscription": [1]}, "'topology' has 2, .* 'oversubscription' has 1"),
        ({"oversubscription": [1, 0.5]}, r"'oversubscription'\[1\]: found 0.5, should be greater than or equal to 1"),
        ({"oversubscription": [2, 1]}, "'oversubscription': found 2.0 for a Ring, allowed: 1"),
        ({"switches": ["leaf"]}, "'switches' belongs to a graph"),
        ({"damage": [{"src": 32}]}, r"'damage'\[0\]: found 32, allowed: the NPUs 0 to 31$"),
        ({"damage": [{"bandwith": 1}]}, r"unknown key 'damage'\[0\]\['bandwith'\]"),
    ],
)
def test_bad_blocks_and_damage(more: dict[str, object], message: str) -> None:
    good = {"topology": ["Ring", "Switch"], "npus": [4, 8], "bandwidth": [50, 25], "latency": [500, 5]}
    with pytest.raises(ConfigError, match=message):
        Network.coerce({**good, **more})


def test_more_damage_keeps_the_rest(network_file: Path) -> None:
    network = Network.load(network_file)
    first = network.with_damage([{"dimension": 1, "bandwidth": 0.5}])
    second = first.with_damage([LinkDamage(src=3, latency=2)])
    assert second.damage == (LinkDamage(dimension=1, bandwidth=0.5), LinkDamage(src=3, latency=2))
    assert (second.topology, second.source) == (network.topology, network.source)
    assert network.damage == ()
    with pytest.raises(ConfigError, match=r"network.yml: 'damage'\[0\]: found 77"):
        network.with_damage([{"src": 77}])
