"""Checks a session that ran while the time of day was set.

check.py NAME KIND EXIT SECONDS: the session in out/NAME, like the undisturbed one in out/KIND, ended with an exit code
after that number of seconds. Prints one line: ok, WRONG or HUNG.
"""
import datetime
import json
import sys

name, kind, code, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
wrong = []


def read(session):
    with open(f"out/{session}/results.json") as f:
        return json.load(f)


def at(text):
    return datetime.datetime.fromisoformat(text[:26].rstrip("Z")).timestamp()


def verdicts(doc):
    found = [(c["key"], c["status"], [(a["verdict"], kinds(a)) for a in c.get("assertions", [])]) for c in doc["cases"]]
    return found + [(a["verdict"], kinds(a)) for a in doc.get("assertions", [])]


def kinds(a):
    """How launches were combined."""
    return [r["kind"] for r in a.get("reasons", []) if "paired" in r["kind"] or "interleaved" in r["kind"]]


def durations(doc, judged):
    for c in doc["cases"]:
        for launch in c["launches"]:
            for metric, value in launch["metrics"].items():
                if metric in judged:
                    yield c["key"], metric, value


def check():
    doc, calm = read(name), read(kind)
    begin, end = at(doc["session"]["started"]), at(doc["session"]["finished"])
    if not begin <= end or not name.startswith("killed") and end - begin > seconds + 2:
        wrong.append(f"it took {end - begin} s of its own times, and {seconds} s")
    starts = sorted((launch["index"], at(launch["started"])) for c in doc["cases"] for launch in c["launches"])
    if [s for _, s in starts] != sorted(s for _, s in starts) and kind == "short":
        wrong.append(f"launches are out of order: {starts}")
    for c in doc["cases"]:
        for launch in c["launches"]:
            if not begin <= at(launch["started"]) <= end or launch["duration_s"] < 0:
                wrong.append(f"{c['key']} launch {launch['index']} is at {launch['started']}, {launch['duration_s']} s")
            wrong.extend(f"{c['key']}: {m} {v}" for m, v in launch["metrics"].items() if v < 0)
    if verdicts(doc) != verdicts(calm):
        wrong.append(f"verdicts {verdicts(doc)} instead of {verdicts(calm)}")
    # what sleeps determine; emulated processors are too uneven for the others
    for key, metric, value in durations(doc, ("elapsed", "ttft.p50", "itl.p50")):
        before = [v for k, m, v in durations(calm, (metric,)) if k == key]
        if not 0.8 * min(before) - 0.2 <= value <= 1.5 * max(before) + 4:
            wrong.append(f"{key}: {metric} {value} instead of {before}")
    for key, metric, value in durations(doc, ("tick.first", "tick.last")):
        if not 0 < value < seconds:
            wrong.append(f"{key}: {metric} {value} in a session of {seconds} s")
    for key, metric, value in durations(doc, ("latency.p50", "latency.avg", "isolated_latency.p50")):
        before = [v for k, m, v in durations(calm, (metric,)) if k == key]
        if not min(before) / 100 <= value <= 100 * max(before):
            wrong.append(f"{key}: {metric} {value} instead of {before}")


if code == 137:
    print(f"HUNG {name} after {seconds} s")
    sys.exit(1)
want = 0
if code != want:
    wrong.append(f"exit code {code}")
try:
    check()
except (OSError, KeyError, ValueError) as e:
    wrong.append(f"no results: {e!r}")
print(f"WRONG {name}: " + "; ".join(wrong) if wrong else f"ok {name} in {seconds} s")
sys.exit(1 if wrong else 0)
