"""Audits for scripts and notebooks; `core` gives the names.

App, command line and scripts share one store (AUDIT_HOME): what one of them has computed, the
others do not compute again.
"""

from __future__ import annotations

import html
import inspect
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import pandas as pd

from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.presets import Asked, add_data_independent, choose_attacks
from core.audit.asked.publish_spec import PublishSpec
from core.audit.asked.scenarios import Threat
from core.audit.asked.spec import AuditSpec
from core.audit.asked.spec_parts import IdentityChoice, fill_published, nest_fields
from core.audit.results.export import write_audit
from core.audit.results.node_risks import NodeRisks
from core.audit.results.view import RESULT_COLUMNS, AuditView
from core.audit.store.states import State
from core.cli.arguments import DEFAULT_SHARE
from core.cli.audit import Show, compute_audit, judge_audit
from core.cli.audit_spec import identify_command, needs_links
from core.cli.publish import check_suffix, choose_pseudonyms, write_publishing
from core.cli.team import open_service
from core.cli.terminal import make_folder
from core.errors import AuditError, InputError, propose_nearest, validate
from core.findings.channels import describe_channels
from core.findings.homophily import describe_homophily
from core.findings.people import list_secrets
from core.findings.policy import Policy, check_policy, load_policy
from core.findings.strongest import choose_measure
from core.findings.tables import list_threats
from core.findings.tradeoff import choose_axes
from core.findings.uses import describe_uses
from core.findings.verdict import Verdict
from core.findings.verdict import judge as judge_view
from core.findings.verdict_words import describe_decision
from core.graph import Graph
from core.methods import ATTACK_KINDS, Kind, Method
from core.nouns import propose_noun
from core.words import list_names

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

AnyMethod = str | Method | type[Method]
"""A method as an object, as a class with its defaults, or as on the command line:
`KEY:name=value,…`."""
Methods = AnyMethod | Iterable[AnyMethod]
GivenPolicy = str | Path | Policy | Mapping[str, Any]
"""A policy, the key of a shipped one, a JSON file, or the object that such a file holds."""

Question = Literal["attacks", "exposure", "usefulness"]


@dataclass(frozen=True, eq=False)
class Audit:
    """Results of an audit; shown as a table in a notebook.

    view  everything known about it, as the pages read it

    >>> import tempfile
    >>> audit.decision, audit.results.columns[:5].tolist()
    ('do_not_publish', ['release', 'defense', 'config', 'method', 'metric'])
    >>> audit.exposure[["release", "threat", "exposed", "n"]]
        release threat  exposed   n
    0  original   link        1  13
    >>> audit.node_risk.columns.tolist()
    ['release', 'threat', 'target', 'node', 'attack', 'risk', 'advantage', 'low', 'high']
    >>> audit.figure("attacks").layout.title.text is None
    False
    >>> sorted(path.name for path in audit.write(tempfile.mkdtemp()).iterdir())
    ['audit.json', 'nodes.parquet', 'releases']
    """

    view: AuditView

    @property
    def results(self) -> pd.DataFrame:
        """One row per release, attack and metric, as in audit.json."""
        return self.view.results[list(RESULT_COLUMNS)].copy()

    @property
    def exposure(self) -> pd.DataFrame:
        """Exposed nodes of each release and secret under the headline attacker.

        Columns release, threat, target (private column if there are several), exposed, sure (those
        beyond noise), few (nodes tested in one repeat), n (nodes at stake), share, mean
        (advantage), attacks.
        """
        columns = ["release", "threat", "target", "exposed", "sure", "few", "n", "share", "mean"]
        return self.view.nodes.exposed[[*columns, "attacks"]].copy()

    @property
    def node_risk(self) -> pd.DataFrame:
        """Risk of each node at stake under the headline attacker, by release and secret.

        risk is the attacker's confidence in the truth, advantage what it is above the base rate,
        low and high the 95 % interval of the risk.
        """
        names, parts = self.view.nodes.names, []
        for one in self.view.nodes.headlines:
            ((threat, target),) = one.secrets
            titles = pd.Index([attack.title for attack in one.attacks])
            own = {"release": one.release, "threat": threat, "target": target}
            own |= {"node": names[one.nodes], "attack": titles[one.which]}
            own |= {name: getattr(one, name) for name in ("risk", "advantage", "low", "high")}
            parts.append(pd.DataFrame(own))
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()

    @property
    def verdict(self) -> Verdict | None:
        """The verdict by the audit's policy; None without one."""
        policy = self.view.spec.policy
        return None if policy is None else judge_view(self.view, check_policy(policy))

    @property
    def decision(self) -> str | None:
        """publish, review or do_not_publish; None without a policy."""
        return None if self.verdict is None else self.verdict.decision

    def figure(self, question: Question = "exposure", threat: Threat | None = None) -> Figure:
        """The chart that answers a question, by default for the first threat of the audit; of
        exposure by default for each node's worst secret.

        attacks     which attack finds most on the original
        exposure    how many nodes are at which risk on each release
        usefulness  what each release keeps, against its risk
        """
        from core.figures.attack_bars import attack_ranking
        from core.figures.risk_charts import risk_distribution
        from core.figures.tradeoff_points import tradeoff

        if question not in get_args(Question):
            raise InputError(
                "question", "must be one of " + ", ".join(get_args(Question)), question
            )
        if question == "exposure":
            return risk_distribution(self._select_nodes(threat)).figure
        results = self.view.results
        threats = list_threats(results)
        asked = threat or next(iter(threats), None)
        measure = None if asked not in threats else choose_measure(results, asked)
        axes = None if asked not in threats else choose_axes(results, asked)
        if asked is None or measure is None or (question == "usefulness" and axes is None):
            known = ", ".join(threats) or "none"
            raise InputError("threat of the figure", f"must have results: {known}", threat)
        if question == "attacks":
            return attack_ranking(results, asked, measure.metric).figure
        assert axes is not None
        return tradeoff(results, *axes, threat=asked).figure

    def write(self, folder: str | Path) -> Path:
        """Write audit.json, nodes.parquet and releases/; returns the folder."""
        verdict, _ = judge_audit(self.view, lambda _: None)
        findings = {
            **verdict,
            "channels": describe_channels(self.view),
            "columns": describe_uses(self.view),
            "homophily": describe_homophily(self.view),
        }
        with _convert_errors(folder):
            write_audit(self.view, Path(folder), findings)
        return Path(folder)

    def report(self, path: str | Path) -> Path:
        """Write the report as a PDF for internal use; returns its path."""
        from core.report import write_report

        make_folder(Path(path).parent)
        with _convert_errors(path):
            return write_report(self.view, path)

    def _select_nodes(self, threat: str | None) -> NodeRisks:
        """Risks of the nodes under one threat, or all; raises InputError for one without any."""
        nodes = self.view.nodes
        threats = list(dict.fromkeys(secret.threat for secret in list_secrets(nodes)))
        if threat is None:
            return nodes
        if threat not in threats:
            known = ", ".join(threats) or "none"
            raise InputError("threat of the figure", f"must have results: {known}", threat)
        of_threat = {key: part for key, part in nodes.parts.items() if key[1].threat == threat}
        return replace(nodes, parts=of_threat)

    def _repr_html_(self) -> str:
        """For notebooks; names are escaped."""
        verdict = self.verdict
        said = "" if verdict is None else f"<p>{html.escape(describe_decision(verdict))}</p>"
        return said + self.view._repr_html_()


def load_graph(source: str | Path, **options: Any) -> Graph:
    """The graph of a file or folder, or of the catalogue by its name.

    options  of `core.data.readers.load_graph`: nodes_path, id_column, private, utility …

    >>> from core import load_graph
    >>> load_graph("karate")
    Graph('karate', nodes=34, links=78)
    """
    from core.data import catalogue, readers

    known = inspect.signature(readers.load_graph).parameters
    for option in options:
        if option not in known:
            near = propose_nearest(option, known) or f"options: {', '.join([*known][1:])}"
            raise InputError("option of load_graph", "is not known", option, near)
    if not isinstance(source, str | os.PathLike):
        raise InputError("graph", "must be a path or of the catalogue", type(source).__name__)
    if Path(source).exists():
        loaded = readers.load_graph(source, **options)
        loaded.report.check_ignored()
        return loaded.graph
    names = [info.name for info in catalogue.list_datasets()]
    if str(source) not in names:
        remedy = propose_nearest(str(source), names) or "check the path"
        raise InputError("graph", "must be a file or of the catalogue", str(source), remedy)
    if options:
        remedy = "leave them out; run_audit takes the private column"
        raise InputError("options", "must not be given for the catalogue", [*options], remedy)
    return catalogue.load_dataset(str(source)).graph


def run_audit(
    graph: Graph,
    attacks: Methods = "quick",
    defenses: Methods = (),
    *,
    private: str | Iterable[str] | None = None,
    policy: GivenPolicy | None = None,
    name: str | None = None,
    progress: bool = True,
    **fields: Any,
) -> Audit:
    """Audit a graph, or take up where an earlier run of the same audit ended.

    attacks   preset (quick, standard, thorough), "all", or methods; with texts, baseline attackers
              are added
    defenses  methods, one release each; `KEY:name=sweep` for several strengths
    private   column, or columns, that must stay private; without one a tenth of the links is
              withheld, and attackers look for these
    policy    public, partner, internal, a JSON file, its object or a Policy; gives the audit a
              decision
    name      of the audit in the history
    progress  whether progress is shown on stderr, by tqdm if it is installed
    fields    further fields of the specification by name: `num_repeats`, `known`, `identity` …
              (core.audit.asked.spec)

    Raises InputError for what cannot be audited, and AuditError if the audit is stopped.

    >>> from core import find_method, load_graph, run_audit
    >>> katz = find_method("katz")(decay=0.3)
    >>> graph = load_graph("karate")
    >>> audit = run_audit(graph, ["jaccard", katz], num_repeats=1, progress=False)
    >>> sorted({attack.split(":")[0] for attack in audit.results.method})
    ['degree_product', 'equal_values', 'feature_cosine', 'jaccard', 'katz', 'release']
    """
    _check_graph(graph)
    chosen = [_read_method(each, *ATTACK_KINDS) for each in _list_methods(attacks)]
    made = [
        choice
        for each in _list_methods(defenses)
        for choice in _expand(_read_method(each, "defense"))
    ]
    fields = _read_private(graph, private, fill_published(fields))
    fields |= {"defenses": [identify_command(d) for d in add_data_independent(made)]}
    identity = fields.get("identity")
    if identity is not None:  # {} asks for it with all defaults
        choice = validate(IdentityChoice, identity, lambda path: f"identity {path}".strip())
        fields["identity"] = choice.model_dump()
    keys = [each if isinstance(each, str) else each.key for each in chosen]
    if fields.get("hide_links") is None and needs_links(keys, fields):
        fields["hide_links"] = DEFAULT_SHARE
    fields["attacks"] = choose_attacks(Asked.of_fields(fields), chosen)
    fields["policy"] = policy and _read_policy(policy).model_dump(mode="json")
    fields |= {"graph_hash": graph.content_hash, "graph_name": graph.name}
    fields["noun"] = fields.get("noun") or propose_noun(graph.name, graph.modes is not None)
    spec = AuditSpec.check_spec(fields)
    if not spec.attacks:
        raise InputError("attacks", "must name one", remedy="such as quick, all or adamic_adar")
    has_command = any(choice.key == "command" for choice in made)
    with (
        open_service(computes=not has_command, tell=lambda _text: None) as service,
        _open_bar(progress) as show,
    ):
        service.save_graph(graph)
        audit_id = compute_audit(service, spec, name, show)
        view = service.get_view(audit_id)
        if view.summary.state is not State.DONE:
            raise AuditError(f"audit {view.summary.state}: {service.get_progress(audit_id).note}")
        for load in (view.load_nodes, view.load_profile, view.load_rocs):
            load()  # while the store is open
        return Audit(view)


def judge(audit: Audit, policy: GivenPolicy) -> Verdict:
    """The verdict on each release of an audit by a policy: a shipped key, a JSON file or its
    object, a Policy.

    >>> from core import judge
    >>> verdict = judge(audit, "public")
    >>> verdict.decision, verdict.recommended
    ('do_not_publish', None)
    """
    return judge_view(audit.view, _read_policy(policy))


def publish(
    graph: Graph,
    defense: AnyMethod,
    path: str | Path,
    *,
    private: str | Iterable[str] | None = None,
    publish_columns: str | Iterable[str] | None = None,
    pseudonyms: bool | str | None = None,
    domain: str | None = None,
    **fields: Any,
) -> list[Path]:
    """Publish a graph: one release with fresh noise, entered in the ledger and written.

    path             of the file: .csv, .parquet, .graphml, .gexf, .npz or .pt
    private          column, or columns, that must stay private
    publish_columns  columns that leave, and no others; none named: the utility column alone
    pseudonyms       whether the ids are replaced; has to be said where an audit of the graph looks
                     for people behind pseudonyms. `keyed:FILE`: by those that the file's secret
                     makes for the recipient `domain`, the same in every release
    fields           further fields by name: `budget`, `lineage`, `generalize` …
                     (core.audit.asked.publish_spec)

    Returns the files, the provenance last. Raises InputError if one is there already, for a column
    that the graph does not have, and for a private one that would leave; the ledger is not charged
    then.

    >>> import tempfile
    >>> from core import load_graph, publish
    >>> path = tempfile.mkdtemp() + "/release.csv"
    >>> [made.name for made in publish(load_graph("karate"), "edge_rand:epsilon=2", path)]
    ['release.csv', 'release.nodes.csv', 'release.provenance.json']
    """
    from core.data.writers import list_release_files, locate_provenance

    _check_graph(graph)
    path, choice = Path(path), _read_method(defense, "defense")
    if isinstance(choice, str):
        choice = MethodChoice.parse(choice, "defense")
    suffix = check_suffix(path)
    files = list_release_files(path.parent, path.stem, (suffix,))
    for file in (*files, locate_provenance(path.parent, path.stem)):
        if file.exists():
            raise InputError("output file", "must not exist", str(file), "name another one")
    if publish_columns is not None:
        fields["publish_columns"] = list_names(publish_columns)
    filled = fill_published(fields, choice.make_defense().keeps_columns)
    own = _read_private(graph, private, filled)
    own["graph_hash"] = graph.content_hash
    spec = PublishSpec.check_fields({**own, "defense": identify_command(choice)})
    make_folder(path.parent)
    renaming = choose_pseudonyms(pseudonyms, domain)
    return write_publishing(graph, spec, path, renaming)[2]


def _check_graph(given: Any) -> None:
    if not isinstance(given, Graph):
        remedy = "make one by load_graph, from_networkx, from_pandas or from_pyg"
        raise InputError("graph", "must be a Graph", type(given).__name__, remedy)


def _read_private(
    graph: Graph, private: str | Iterable[str] | None, fields: Mapping[str, Any]
) -> dict[str, Any]:
    """The fields with every private column that is asked for: by the argument, and by `private` and
    `more_private` of the specification, which name further ones. Raises InputError for one that
    the graph does not have."""
    own = nest_fields(fields).get("threats")
    own = own if isinstance(own, Mapping) else {}
    given = (private, own.get("private"))
    main = [name for each in given if each is not None for name in list_names(each)]
    if not main:  # further ones alone are refused with the spec
        return dict(fields)
    columns = [*main, *list_names(own.get("more_private") or ())]
    for column in columns:
        graph.column(column, "private column")
    first, *others = dict.fromkeys(columns)
    return {**fields, "private": first, "more_private": others}


def _list_methods(given: Any) -> list[Any]:
    is_one = isinstance(given, str | Method) or not isinstance(given, Iterable)
    return [given] if is_one else list(given)


def _read_method(given: Any, *kinds: Kind) -> str | MethodChoice:
    """A text as it is, since presets are texts too; else the choice of this method."""
    if isinstance(given, str):
        return given
    if isinstance(given, type) and issubclass(given, Method):
        given = given()
    if not isinstance(given, Method) or given.kind not in kinds:
        noun = " or ".join(kind.replace("_", " ") for kind in kinds)
        rule, remedy = f"must be a text or a method: {noun}", f"see list_methods('{kinds[0]}')"
        raise InputError("method", rule, type(given).__name__, remedy)
    return MethodChoice.of(given)


def _expand(given: str | MethodChoice) -> list[MethodChoice]:
    return MethodChoice.expand(given, "defense") if isinstance(given, str) else [given]


def _read_policy(given: GivenPolicy) -> Policy:
    if isinstance(given, Policy):
        return given
    return load_policy(str(given)) if isinstance(given, str | Path) else check_policy(given)


@contextmanager
def _convert_errors(path: str | Path) -> Iterator[None]:
    """Raises InputError instead of the operating system's error on a file."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError("output", "must be one that can be written", str(path), reason) from None


@contextmanager
def _open_bar(is_shown: bool) -> Iterator[Show | None]:
    """Shows progress by a bar of tqdm; None, for the command line's way, without the package."""
    if not is_shown:
        yield lambda _done, _total, _doing: None
        return
    try:
        from tqdm import tqdm
    except ImportError:
        yield None
        return
    with tqdm(unit=" parts", leave=False) as bar:

        def show(done: int, total: int, doing: str) -> None:
            bar.total, bar.n = total, done
            bar.set_postfix_str(doing)

        yield show
