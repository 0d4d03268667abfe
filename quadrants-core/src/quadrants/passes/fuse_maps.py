"""Decides which element-wise maps need no array of their own, and which share a loop.

Takes a region; gives a `Plan`; changes nothing (`expand_maps` does). Maps of one rank that read each other's results, or the
same arrays, form a cluster: one loop, where the last of them stands. A map is computed inside those that use it, without
an array, if all of them are in its cluster; or if computing it again for each costs less than an array would. What uses it
may also be loads, of itself or of views whose elements are known to be at which of its own (`map_views`).

Legal when nothing that stands between a map and the place where its elements are computed may write to what it reads
(`array_roots`). A `map_into` is the last of its cluster: nothing that might raise comes between it and its loop.
"""

from __future__ import annotations

from dataclasses import field

from quadrants._frozen import record
from quadrants.ir import Op, Region, Value
from quadrants.passes.array_roots import Roots
from quadrants.passes.map_views import Views
from quadrants.passes.structure import LOOPS, size_of
from quadrants.types import ArrayType

MAPS = frozenset({"map", "map_into"})
#: What an op costs beside a sum, where it is much more.
_COSTS = {"div": 8, "floordiv": 16, "mod": 16, "rem": 24, "math.sqrt": 10, "call": 60}
_MATH_COST = 24
_LOOP_COST = 200
#: An array that is written once and read again costs as much as so many sums an element.
_ARRAY_COST = 8
#: A loop of more ops is cut: it would run out of registers and of LLVM's patience.
_MAX_SIZE = 160
_MAX_STREAMS = 24
#: The most ops that copies of a cluster's expressions, where elements are loaded, may add.
_MOST_COPIED = 480
#: What may be computed again for every row of a larger array.
_CHEAP = 4
#: Loops of at most so many turns cost nothing.
_FEW_TURNS = 64


@record(eq=False)
class Cluster:
    """Maps that share a loop, in order; `leaves` are the arrays that they read, of those around them."""

    rank: int
    members: list[Op] = field(default_factory=list)
    leaves: set[Value] = field(default_factory=set)
    size: int = 0
    closed: bool = False

    def results(self) -> set[Value]:
        return {member.result for member in self.members if member.name == "map"}


@record(eq=False)
class Plan:
    """For one region: the maps without an array, the others' loops, and why a map has an array though nothing keeps it."""

    inline: set[Op] = field(default_factory=set)
    clusters: dict[Op, Cluster] = field(default_factory=dict)
    loops: dict[Op, list[Op]] = field(default_factory=dict)  # by the map behind which a loop stands: what it computes
    kept: dict[Op, str] = field(default_factory=dict)


def plan(region: Region, roots: Roots, views: Views) -> Plan:
    """The plan for the maps of a region (not of those nested in it)."""
    state = _Planner(region, roots, views)
    state.gather()
    for op in reversed(region.ops):
        if op.name == "map":
            state.decide(op)
    for cluster in dict.fromkeys(state.plan.clusters.values()):
        members = [member for member in cluster.members if member not in state.plan.inline]
        if members:
            state.plan.loops[members[-1]] = members
    return state.plan


def inputs(op: Op) -> list[Value]:
    """What a map reads."""
    return op.operands[1:] if op.name == "map_into" else op.operands


def arrays(op: Op) -> list[Value]:
    """The arrays that a map reads."""
    return [value for value in inputs(op) if isinstance(value.type, ArrayType)]


def touched(op: Op) -> list[Value]:
    """The arrays that a map reads, those included that only its region uses."""
    inside = [value for inner in op.regions[0].walk() for value in inner.operands if isinstance(value.type, ArrayType)]
    return [*arrays(op), *inside]


def rank(op: Op) -> int:
    """The number of axes that a map runs over."""
    type = op.operands[0].type if op.name == "map_into" else op.result.type
    assert isinstance(type, ArrayType)
    return type.ndim


def cost(region: Region) -> int:
    """What one element costs, in sums."""
    total = 0
    for op in region.walk():
        if op.name in LOOPS:
            total += _LOOP_COST
        else:
            total += _COSTS.get(op.name, _MATH_COST if op.name.startswith("math.") else 1)
    return total - 1  # the yield


@record(eq=False)
class _Planner:
    region: Region
    roots: Roots
    views: Views
    plan: Plan = field(default_factory=Plan)
    position: dict[Op, int] = field(default_factory=dict)
    sites: dict[Op, list[Op | Cluster]] = field(default_factory=dict)  # of maps without arrays: where they are computed
    reads: dict[Op, set[Value]] = field(default_factory=dict)

    # Clusters

    def gather(self) -> None:
        """Put every map into a cluster."""
        open_: list[Cluster] = []
        for index, op in enumerate(self.region.ops):
            self.position[op] = index
            if op.name in MAPS:
                joined = self.join(op, open_)
                open_ = [cluster for cluster in open_ if cluster is joined or not self.hinders(op, cluster)]
                if joined not in open_ and not joined.closed:
                    open_.append(joined)
                open_ = [cluster for cluster in open_ if not cluster.closed]
            elif open_:
                open_ = [cluster for cluster in open_ if not self.hinders(op, cluster)]

    def join(self, op: Op, open_: list[Cluster]) -> Cluster:
        """The cluster that the map belongs to, a new one perhaps; `open_` loses those that become part of it."""
        fitting = [cluster for cluster in open_ if self.fits(op, cluster)]
        reading = [cluster for cluster in fitting if cluster.results() & set(arrays(op))]
        sharing = [cluster for cluster in fitting if self.shared(op, cluster)]
        found = reading or sharing[-1:]
        into = found[0] if found else Cluster(rank(op))
        for other in found[1:]:
            if into.size + other.size + size_of(op.regions[0]) > _MAX_SIZE:
                continue
            into.members = sorted((*into.members, *other.members), key=self.position.__getitem__)
            into.leaves |= other.leaves
            into.size += other.size
            open_.remove(other)
            self.plan.clusters.update(dict.fromkeys(other.members, into))
        results = into.results()
        into.leaves.update(value for value in touched(op) if value not in results)
        into.members.append(op)
        into.size += size_of(op.regions[0])
        into.closed = op.name == "map_into"
        self.plan.clusters[op] = into
        return into

    def fits(self, op: Op, cluster: Cluster) -> bool:
        """Whether a map may be computed in the loop of a cluster, which then stands where the map does."""
        if cluster.rank != rank(op) or cluster.size + size_of(op.regions[0]) > _MAX_SIZE:
            return False
        results = cluster.results()
        if len(cluster.leaves) + len(results) + len(op.operands) > _MAX_STREAMS:
            return False
        for value in arrays(op):  # elements of other places than the one that is computed
            if value not in results and self.roots.root(value) in results:
                return False
        if op.name == "map":
            return True
        target = op.operands[0]
        near = [
            value
            for value in (*cluster.leaves, *(v for v in arrays(op) if v not in results))
            if value is not target and self.roots.root(value) is self.roots.root(target)
        ]
        return not near and self.roots.root(target) not in results

    def shared(self, op: Op, cluster: Cluster) -> bool:
        """Whether a map reads an array of all axes that the cluster reads, too: it probably has the same sizes."""
        both = cluster.leaves.intersection(arrays(op))
        return any(isinstance(value.type, ArrayType) and value.type.ndim == cluster.rank for value in both)

    def hinders(self, op: Op, cluster: Cluster) -> bool:
        """Whether the loop of a cluster may not come behind an op."""
        return self.roots.clobbers(op, cluster.leaves) or self.reads_elements(op, cluster.results())

    def reads_elements(self, op: Op, results: set[Value]) -> bool:
        """Whether an op, or one inside it, does more with the arrays than to ask for sizes and make views."""
        if op.name not in ("dim", "stride", "view") and any(self.roots.root(value) in results for value in op.operands):
            return True
        return any(self.reads_elements(inner, results) for region in op.regions for inner in region.ops)

    # Maps without arrays

    def decide(self, op: Op) -> None:
        """Whether a map needs an array. Those that read it are decided."""
        sites, reason = self.sites_of(op)
        cluster = self.plan.clusters[op]
        if not reason and any(site is not cluster for site in sites):
            own = cost(op.regions[0])
            loops = sum(isinstance(site, Cluster) or site.name in LOOPS for site in sites)
            if own * (loops - 1) > _ARRAY_COST or cluster.size * len(sites) > _MOST_COPIED:
                reason = "it is used in several loops, and computing it again would cost more"
            elif own > _CHEAP and any(isinstance(site, Cluster) and site.rank > cluster.rank for site in sites):
                reason = "its elements would be computed again for each of a larger array"
        if reason:
            self.plan.kept[op] = reason
            return
        self.plan.inline.add(op)
        self.sites[op] = sites

    def sites_of(self, op: Op) -> tuple[list[Op | Cluster], str]:
        """The loops in which the elements of a map are used, each once; or why it has to be an array."""
        sites: list[Op | Cluster] = []
        for reader in self.roots.readers.get(op.result, ()):
            if reader.name in ("dim", "stride"):
                continue
            if reader.name in MAPS:
                if reader not in self.position or (reader.name == "map_into" and reader.operands[0] is op.result):
                    return [], "it is updated, or used in another block"
                inline = reader in self.plan.inline
                found: list[Op | Cluster] = [*self.sites[reader]] if inline else [self.plan.clusters[reader]]
            else:
                loads = self.views.loads(reader, op)
                if loads is None:
                    return [], f"{_says(reader)} needs it as an array"
                if op.result in self.views.ordered and not self.is_contiguous(op):
                    return [], "not all that it is made from is contiguous"
                found = [*self.passes(loads, op)]
            sites += [site for site in found if site not in sites]
        for site in sites:
            if self.blocked(op, site):
                return [], "what it is made from may change before it is used"
        return sites, ""

    def passes(self, loads: list[Op], op: Op) -> list[Op]:
        """The loops, of more than a few turns, in which elements are loaded."""
        found = []
        home = self.roots.parents.get(op)
        for load in loads:
            loop = self.roots.parents.get(load)
            while loop is not None and loop is not home and loop.name not in LOOPS:
                loop = self.roots.parents.get(loop)
            if loop is None or loop is home or self.few_turns(loop):
                found.append(load)
            elif loop not in found:
                found.append(loop)
        return found

    def few_turns(self, loop: Op) -> bool:
        """Whether a loop is known to be short."""
        if loop.name != "for":
            return False
        maker = self.roots.makers.get(loop.operands[1])
        sizes = [maker] if maker is None or maker.name != "min" else [self.roots.makers.get(v) for v in maker.operands]
        values = [made.attrs["value"] for made in sizes if made is not None and made.name == "const"]
        return any(isinstance(value, int) and value <= _FEW_TURNS for value in values)

    def blocked(self, op: Op, site: Op | Cluster) -> bool:
        """Whether something between a map and where it is computed may write to what it reads."""
        members: set[Op] = set()
        if isinstance(site, Cluster):
            last = max(self.position[member] for member in site.members if member not in self.plan.inline)
            members.update(site.members)
            end = site.members[-1]
            if end.name == "map_into" and self.is_near(op, end.operands[0]):
                return True
        else:
            while site not in self.position:
                site = self.roots.parents[site]
            last = self.position[site]
        needed = set(touched(op))
        between = self.region.ops[self.position[op] + 1 : last + 1]
        return any(other not in members and self.roots.clobbers(other, needed) for other in between)

    def is_contiguous(self, op: Op) -> bool:
        """Whether all arrays that a map is made from are in C order, with all axes."""
        types = [value.type for value in self.sources(op)]
        return all(isinstance(type, ArrayType) and type.layout == "C" and type.ndim == rank(op) for type in types)

    def is_near(self, op: Op, target: Value) -> bool:
        """Whether a map is made from other parts of the array that it goes into: then it has to be computed before."""
        return any(
            value is not target and self.roots.root(value) is self.roots.root(target) for value in self.sources(op)
        )

    def sources(self, op: Op) -> set[Value]:
        """The arrays that a map, and the maps in this region that it reads, are made from."""
        if op not in self.reads:
            self.reads[op] = set()
            for value in arrays(op):
                maker = self.roots.makers.get(value)
                nested = maker is not None and maker.name == "map" and maker in self.position
                self.reads[op] |= self.sources(maker) if nested and maker is not None else {value}
        return self.reads[op]


def _says(op: Op) -> str:
    return {"call": "a function that is called", "return": "the result", "view": "a view of it"}.get(
        op.name, f"'{op.name}'"
    )
