"""Every verb of the service as each role, and as owner, colleague with a grant, and stranger."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import wraps

import pytest

from core.audit.access.authorised import enter
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.publish_spec import PublishSpec
from core.audit.service import AuditService
from core.audit.store.accounts import LOCAL, ROLES, Person
from core.audit.store.decisions import Decision
from core.errors import AccessError, AuditError, InputError
from tests.inline import run_inline

PEOPLE = {
    "owner": Person("i ada", "Ada", "analyst"),
    "granted": Person("i gil", "Gil", "analyst"),
    "former": Person("i wil", "Wil", "analyst"),
    "stranger": Person("i bob", "Bob", "analyst"),
    "approver": Person("i eve", "Eve", "approver"),
    "administrator": Person("i max", "Max", "administrator"),
    "nobody": Person("i ned", "Ned", "none"),
    "local": LOCAL,
}
RELATIONS = {"own": "i ada", "shared": "i gil", "withdrawn": "i wil", "other": "i bob"}
"""What the audit is to somebody → their subject."""

TABLE = """
part        verbs                                        own       shared    withdrawn other
service     close set_notifier warm_up                   -         -         -         -
service     find_device_title rest load_time_model       analyst   analyst   analyst   analyst
service     save_graph find_same_audit open_example      analyst   analyst   analyst   analyst
service     list_audits                                  analyst   analyst   analyst   analyst
service     save_choice find_choice                      analyst   analyst   approver  approver
service     load_graph find_relative estimate_time       analyst   analyst   approver  approver
service     find_last_confirmation                       analyst   analyst   approver  approver
service     wait get_progress get_view get_publish       analyst   analyst   approver  approver
service     start_audit start_publish                    analyst   admin     admin     admin
service     resume_audit cancel_audit delete_audit       analyst   admin     admin     admin
service     record_decision hand_out                     analyst   approver  approver  approver
service     sign_publish                                 -         approver  approver  approver
service     assign_lineage                               approver  approver  approver  approver
claims      start                                        analyst   admin     admin     admin
advice      start cancel_node                            analyst   admin     admin     admin
advice      find list_done                               analyst   analyst   approver  approver
publishing  start sign load_release sweep                -         -         -         -
layouts     start find load stop                         analyst   analyst   approver  approver
*           get list wait                                analyst   analyst   approver  approver
*           cancel cancel_all                            analyst   admin     admin     admin
*           submit find_key close compute read           -         -         -         -
*           format_parts uses_gpu forget_graph             -         -         -         -
team        welcome open_token record is_shared          -         -         -         -
team        list_people find_person find_names           analyst   analyst   analyst   analyst
team        share_audit unshare_audit                    analyst   admin     admin     admin
team        list_grants                                  analyst   analyst   approver  approver
team        make_token list_tokens revoke_token          analyst   admin     admin     admin
team        move_audit list_trail                        admin     admin     admin     admin
"""
"""The least role that may, by what the audit is to that person: their own, shared with them, shared
until the grant was withdrawn, or somebody else's. A release of it was prepared, which approvers
may read; "-": nobody, and where it stands four times the verb is the program's alone and not there.
"*" stands for each kind of job."""


def read_table() -> dict[str, dict[str, dict[str, str]]]:
    """Part → verb → relation → least role."""
    header, *lines = (line.split() for line in TABLE.strip().splitlines())
    relations = header[2:]
    found: dict[str, dict[str, dict[str, str]]] = {}
    for line in lines:
        part, verbs, roles = line[0], line[1:-4], line[-4:]
        for name in JOB_PARTS if part == "*" else [part]:
            for verb in verbs:
                least = dict(zip(relations, roles, strict=True))
                found.setdefault("" if name == "service" else name, {})[verb] = least
    return found


JOB_PARTS = ("claims", "advice", "publishing", "layouts")
MAY = read_table()
VERBS = [
    (part, verb)
    for part, verbs in MAY.items()
    for verb in verbs
    if {*verbs[verb].values()} != {"-"}
]


class Scenario:
    """A service with Ada's audit, shared with Gil and no longer with Wil, and a run of hers."""

    def __init__(self, home, spec, graph) -> None:
        self.service, self.spec = AuditService(home), spec
        store = self.service._store
        for person in PEOPLE.values():
            self.service.team.welcome(person)
        view = run_inline(spec, graph, home, store=store)
        self.audit_id = view.summary.id
        store.move_audit(self.audit_id, PEOPLE["owner"].subject)
        for name in ("granted", "former"):
            self.service.team.share_audit(self.audit_id, PEOPLE[name].subject)
        former = enter(self.service, PEOPLE["former"])
        assert former.get_view(self.audit_id).summary.id == self.audit_id
        self.service.team.unshare_audit(self.audit_id, PEOPLE["former"].subject)
        request = PublishSpec.of_audit(spec, spec.defenses[0])
        asked = {"claim": {"trials": 100}, "publishing": request.model_dump(mode="json")}
        for kind in ("claim", "advice", "publishing", "layout"):
            store.add_job(
                f"key-{kind}",
                kind,
                audit_id=self.audit_id,
                request=asked.get(kind, {}),
                person=PEOPLE["owner"].subject,
            )
        self.publish_spec = request
        token = self.service.team.make_token(subject=PEOPLE["owner"].subject)
        assert token.startswith("gpa_")
        (self.token,) = self.service.team.list_tokens()

    def make_decision(self, name: str, kind: str = "chosen") -> Decision:
        file_hash = "f" * 64 if kind == "published" else ""
        return Decision(
            graph_hash=self.spec.graph_hash,
            audit_id=self.audit_id,
            kind=kind,
            release="random_deletion",
            person=name,
            file_hash=file_hash,
        )

    def name_arguments(self, part: str, verb: str, name: str = "Ada") -> dict[str, object]:
        """What a caller would give; who they are is not theirs to say."""
        kinds = {"claims": "claim", "layouts": "layout"}
        known = {
            "audit_id": self.audit_id,
            "key": f"key-{kinds.get(part, part)}",
            "publish_id": "key-publishing",
            "graph_hash": self.spec.graph_hash,
            "spec": self.publish_spec if "publish" in verb else self.spec,
            "subject": PEOPLE["owner"].subject,
            "token_id": self.token.id,
            "person": "i ada",
            "given_by": "i ada",
            "decision": self.make_decision(name),
        }
        target = find_part(self.service, part)
        names = [
            name
            for name, parameter in inspect.signature(getattr(target, verb)).parameters.items()
            if parameter.default is inspect.Parameter.empty or name in known
        ]
        return {name: known.get(name) for name in names}


@pytest.fixture(scope="module")
def scenario(tmp_path_factory, graph, make_spec):
    scenario = Scenario(tmp_path_factory.mktemp("home"), make_spec(), graph)
    yield scenario
    scenario.service.close()


@dataclass
class Result:
    """What stands for a publishing run, and for an empty history."""

    id: str = "key-publishing"
    release: object = None

    def __iter__(self) -> Iterator[object]:
        return iter(())


class Recorder:
    """A part of the service whose verbs only note that they ran, and as whom."""

    def __init__(self, part) -> None:
        self._part, self.calls = part, []

    def __getattr__(self, name):
        verb = getattr(self._part, name)

        @wraps(verb)
        def call(*args, **kwargs):
            given = inspect.signature(verb).bind(*args, **kwargs).arguments
            self.calls.append((name, given))
            return Result()

        return call


def find_part(service, part):
    return service if part == "" else getattr(service, part)


def call(scenario, person, part, verb) -> dict[str, object] | None:
    """The arguments that the verb ran with; None where the person may not."""
    authorised = find_part(enter(scenario.service, person), part)
    recorder = authorised._part = Recorder(authorised._part)
    try:
        getattr(authorised, verb)(**scenario.name_arguments(part, verb, person.name))
    except (AccessError, InputError):
        assert recorder.calls == []
        return None
    ((name, given),) = recorder.calls
    assert name == verb
    return given


@pytest.mark.parametrize(("part", "verb"), VERBS)
def test_who_may(scenario, part, verb):
    expected, found = {}, {}
    for relation, subject in RELATIONS.items():
        least = MAY[part][verb][relation].replace("admin", "administrator")
        for role in ROLES:
            person = Person(subject, subject.removeprefix("i ").title(), role)
            found[relation, role] = call(scenario, person, part, verb) is not None
            is_high = least in ROLES and ROLES.index(role) >= ROLES.index(least)
            expected[relation, role] = is_high
    assert found == expected
    assert call(scenario, LOCAL, part, verb) is not None


def list_verbs(thing: object) -> set[str]:
    return {
        name
        for name in dir(type(thing))
        if not name.startswith("_") and callable(getattr(type(thing), name))
    }


def test_every_verb_is_in_this_table_and_those_of_people_have_a_rule(scenario):
    authorised = enter(scenario.service, LOCAL)
    kinds = {name for name, thing in vars(scenario.service).items() if not name.startswith("_")}
    assert kinds == {*MAY} - {""}
    for part in MAY:
        bare, own = find_part(scenario.service, part), find_part(authorised, part)
        assert set(MAY[part]) == list_verbs(bare) - {"request"}, part
        verbs = {verb for place, verb in VERBS if place == part}
        assert list_verbs(own) - {"may_change"} == verbs, part
        for verb in verbs:
            assert getattr(type(own), verb).__wrapped__ is getattr(type(bare), verb), verb
        # What answers any name hides a missing rule from the type checker.
        assert not hasattr(type(own), "__getattr__")


@pytest.mark.parametrize("kind", ["chosen", "published"])
def test_a_decision_is_on_the_graph_of_its_audit_and_by_its_subject(scenario, kind):
    """Names are shown, subjects decide: two people may be called Ada."""
    service = scenario.service
    decision = scenario.make_decision("Ada", kind)
    owner = enter(service, PEOPLE["owner"])
    with pytest.raises(InputError, match="the one of the audit"):
        owner.record_decision(replace(decision, graph_hash="0" * 64))
    with pytest.raises(AccessError, match="own name"):
        owner.record_decision(replace(decision, person="Eve"))
    namesake = Person(f"i ada {kind}", "Ada", "analyst")
    service.team.welcome(namesake)
    with pytest.raises(InputError, match="known id"):
        enter(service, namesake).record_decision(decision)
    service.team.share_audit(scenario.audit_id, namesake.subject)
    with pytest.raises(AccessError, match="only who started"):
        enter(service, namesake).record_decision(decision)
    owner.record_decision(replace(decision, subject="i eve"))  # not theirs to say
    (entry,) = [d for d in owner.get_view(scenario.audit_id).decisions if d.id == decision.id]
    assert (entry.person, entry.subject) == ("Ada", "i ada")
    newest = service.team.list_trail(1)[0]
    assert (newest.event, newest.person) == ("record decision", "i ada")
    assert newest.detail == f"{kind}: random_deletion, audit: {scenario.audit_id}"


def test_reading_is_not_holding(scenario, make_spec):
    """A reader starts nothing on the graph, so that nothing is left when the grant is gone."""
    service = scenario.service
    reader = enter(service, PEOPLE["granted"])
    graph = reader.load_graph(scenario.spec.graph_hash)
    with pytest.raises(AccessError, match="start audit: only who loaded this graph"):
        reader.start_audit(scenario.spec)
    with pytest.raises(AccessError, match="save graph: only who loaded"):
        reader.save_graph(graph.with_edges(graph.edges[1:]), made_of=scenario.spec.graph_hash)
    with pytest.raises(AccessError, match="prepare release: only who loaded"):
        reader.start_publish(scenario.publish_spec)
    service.team.unshare_audit(scenario.audit_id, PEOPLE["granted"].subject)
    try:
        with pytest.raises(InputError, match="must be stored"):
            reader.load_graph(scenario.spec.graph_hash)
    finally:
        service.team.share_audit(scenario.audit_id, PEOPLE["granted"].subject)


def test_a_release_is_prepared_of_the_audits_own_graph(scenario, graph):
    owner = enter(scenario.service, PEOPLE["owner"])
    other = owner.save_graph(graph.with_edges(graph.edges[::3]))
    spec = scenario.publish_spec.model_copy(update={"graph_hash": other})
    with pytest.raises(InputError, match="the one of the audit"):
        owner.start_publish(spec, scenario.audit_id)


def test_the_trail_says_whom_and_what(scenario):
    owner, max_ = (enter(scenario.service, PEOPLE[name]) for name in ("owner", "administrator"))
    owner.team.share_audit(scenario.audit_id, "i bob")
    owner.team.unshare_audit(scenario.audit_id, "i bob")
    with pytest.raises(AccessError):
        owner.team.move_audit(scenario.audit_id, "i bob")
    owner.team.make_token("nightly", 3, "i ada")
    entries = max_.team.list_trail(4)[::-1]
    said = [(entry.person, entry.event, entry.target, entry.detail) for entry in entries]
    assert said[:2] == [
        ("i ada", "share audit", scenario.audit_id, "subject: i bob"),
        ("i ada", "unshare audit", scenario.audit_id, "subject: i bob"),
    ]
    assert said[2][1:3] == ("refused: move audit", scenario.audit_id)
    assert said[2][3].startswith("subject: i bob; ")
    assert said[3] == ("i ada", "make token", "i ada", "label: nightly, days: 3")


def test_what_has_no_rule_is_not_there(scenario):
    authorised = enter(scenario.service, LOCAL)
    for name in ("_store", "home", "new_verb"):
        with pytest.raises(AttributeError):
            getattr(authorised, name)
    hidden = [(part, verb) for part in MAY for verb in MAY[part] if (part, verb) not in VERBS]
    assert ("team", "open_token") in hidden
    for part, verb in hidden:
        assert not hasattr(find_part(authorised, part), verb)


def test_nobody_acts_in_anothers_name(scenario):
    for part, verb in VERBS:
        for name in ("person", "given_by"):
            if name in scenario.name_arguments(part, verb) and verb not in ("sign", "start"):
                given = call(scenario, PEOPLE["administrator"], part, verb)
                assert given is None or given[name] == "i max", verb


def test_an_approver_sees_an_audit_only_once_a_release_was_prepared(
    tmp_path, graph, make_spec, scenario
):
    view = run_inline(
        make_spec(root_seed=3), graph, scenario.service.home, store=scenario.service._store
    )
    other = view.summary.id
    scenario.service._store.move_audit(other, "i ada")
    authorised = enter(scenario.service, PEOPLE["approver"])
    assert [audit.id for audit in authorised.list_audits()] == [scenario.audit_id]
    with pytest.raises(InputError, match="known id"):
        authorised.get_view(other)
    assert [a.id for a in enter(scenario.service, PEOPLE["stranger"]).list_audits()] == []
    assert [a.id for a in enter(scenario.service, PEOPLE["granted"]).list_audits()] == [
        scenario.audit_id
    ]
    assert len(enter(scenario.service, LOCAL).list_audits()) == 2


def test_anothers_audit_reads_like_one_that_does_not_exist(scenario):
    authorised = enter(scenario.service, PEOPLE["stranger"])
    for known, unknown in ((scenario.audit_id, "0123456789"),):
        messages = set()
        for audit_id in (known, unknown):
            with pytest.raises(InputError) as error:
                authorised.get_view(audit_id)
            messages.add(str(error.value).replace(audit_id, "ID"))
        assert len(messages) == 1


def test_a_grant_taken_back_is_gone_at_once(scenario):
    owner = enter(scenario.service, PEOPLE["owner"])
    stranger = enter(scenario.service, PEOPLE["stranger"])
    owner.team.share_audit(scenario.audit_id, PEOPLE["stranger"].subject)
    assert stranger.get_view(scenario.audit_id).summary.id == scenario.audit_id
    with pytest.raises(AccessError, match="delete audit: only who started"):
        stranger.delete_audit(scenario.audit_id)
    owner.team.unshare_audit(scenario.audit_id, PEOPLE["stranger"].subject)
    with pytest.raises(InputError, match="known id"):
        stranger.get_view(scenario.audit_id)


def test_a_second_graph_of_a_spec_must_be_ones_own_too(scenario, graph, make_spec):
    mine = graph.with_edges(graph.edges[::2])
    stranger = enter(scenario.service, PEOPLE["stranger"])
    own = stranger.save_graph(mine)
    judged = {
        "external_release": graph.content_hash,
        "defenses": [{"key": "external"}],
        "num_repeats": 1,
    }
    for named in ({"identity": {"auxiliary_graph": graph.content_hash}}, judged):
        with pytest.raises(InputError, match="must be stored"):
            stranger.start_audit(make_spec(graph_hash=own, **named))


def test_a_job_of_another_kind_is_not_reached_through_a_kind(scenario):
    owner = enter(scenario.service, PEOPLE["owner"])
    with pytest.raises(AuditError, match="known one"):
        owner.claims.cancel("key-publishing")


def test_preparing_and_signing_take_two_people(tmp_path, graph, make_spec):
    from core.audit.jobs.job import run_job
    from core.audit.jobs.publish import PublishJobs

    service = AuditService(tmp_path)
    try:
        for person in PEOPLE.values():
            service.team.welcome(person)
        spec = make_spec(defenses=[{"key": "edge_rand", "config": {"epsilon": 2.0}}])
        view = run_inline(spec, graph, tmp_path, store=service._store)
        preparer = Person("i eva", "Eva", "approver")
        service.team.welcome(preparer)
        service._store.move_audit(view.summary.id, preparer.subject)
        request = PublishSpec.of_audit(spec, MethodChoice.model_validate(spec.defenses[0]))
        for who, signer in ((preparer.subject, PEOPLE["approver"]), (LOCAL.subject, LOCAL)):
            key = f"run-{who[-3:]}"
            service._store.add_job(
                key,
                "publishing",
                audit_id=view.summary.id,
                request=request.model_dump(mode="json"),
                person=who,
                signed_by="local" if who == "local" else "",
            )
            assert run_job(PublishJobs, str(service.home), service._store.url, key) == "done"
            authorised = enter(service, signer)
            if who != "local":
                assert authorised.get_publish(key).release is None
                with pytest.raises(InputError, match="done and signed"):
                    authorised.hand_out(key)
                with pytest.raises(AccessError, match="another person"):
                    enter(service, preparer).sign_publish(key)
                with pytest.raises(InputError, match="another person"):
                    service.sign_publish(key, preparer.subject)
                authorised.sign_publish(key)
            run = authorised.hand_out(key)
            assert run.release is not None
            assert (run.prepared_by, run.signed_by) == (who, signer.subject)
        with service._store.read() as connection:
            rows = connection.exec_driver_sql("SELECT person, signed_by FROM ledger").all()
        assert sorted(rows) == [("i eva", "i eve"), ("local", "local")]
        events = [(entry.name, entry.event) for entry in service.team.list_trail(target="run-eva")]
        assert events == [
            ("Eve", "hand out release"),
            ("Eve", "sign release"),
            ("Eva", "refused: sign release"),
        ]
    finally:
        service.close()


@pytest.mark.parametrize("kind", ["claim", "advice", "layout"])
def test_an_approver_is_let_in_by_a_publishing_run_only(kind, tmp_path, graph, make_spec):
    service = AuditService(tmp_path)
    try:
        service.team.welcome(PEOPLE["approver"])
        view = run_inline(make_spec(), graph, tmp_path, store=service._store)
        service._store.move_audit(view.summary.id, "i ada")
        service._store.add_job("k", kind, audit_id=view.summary.id, request={}, person="i ada")
        approver = enter(service, PEOPLE["approver"])
        assert approver.list_audits() == []
        with pytest.raises(InputError, match="known id"):
            approver.get_view(view.summary.id)
    finally:
        service.close()
