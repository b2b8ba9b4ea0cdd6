#!/usr/bin/env python3
"""Counts the final states of tasks from raw transcripts, without any code of
strandline, and compares them with what `strandline tasks` says.

usage: task_states.py FOLDER [STRANDLINE]

FOLDER holds transcripts (*.jsonl) that the archive in $STRANDLINE_HOME has
imported. Prints a table of sessions; exit status 1 when anything differs.
"""
import collections
import json
import pathlib
import subprocess
import sys


def blocks(path):
    """All content blocks of the main chain in file order."""
    for line in path.open(encoding="utf-8", errors="replace"):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if not isinstance(row, dict) or row.get("isSidechain"):
            continue
        message = row.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else []:
            if isinstance(block, dict):
                yield row, block


def states(path):
    """(kind, name) -> final state, the way a reader of the file would say it."""
    out, uses, listed = {}, {}, None
    agents = {}  # background runs: id from the client -> key
    for row, b in blocks(path):
        if b.get("type") == "tool_use":
            uses.setdefault(b["id"], b)
            if b["name"] == "TodoWrite":
                todos = b["input"].get("todos")
                todos = [t for t in todos if isinstance(t, dict)] if isinstance(todos, list) else []
                now = {t["content"]: t["status"] for t in todos}
                for name in listed or {}:  # the list is complete
                    if name not in now and out[("todo", name)] != "completed":
                        out[("todo", name)] = "deleted"
                for name, status in now.items():
                    out[("todo", name)] = status
                listed = dict.fromkeys([*(listed or {}), *now])
            elif b["name"] in ("Task", "Agent"):
                out[("agent", b["id"])] = "in_progress"
        elif b.get("type") == "tool_result" and b.get("tool_use_id") in uses:
            use, result = uses[b["tool_use_id"]], row.get("toolUseResult")
            result = result if isinstance(result, dict) else {}
            if use["name"] in ("Task", "Agent"):
                key = ("agent", use["id"])
                if b.get("is_error"):
                    out[key] = "failed"
                elif result.get("isAsync"):
                    agents[result["agentId"]] = key
                else:
                    out[key] = "completed"
            elif use["name"] == "TaskOutput" and isinstance(result.get("task"), dict):
                if result["task"].get("status") == "completed":
                    out[agents.get(result["task"].get("task_id"))] = "completed"
            elif b.get("is_error"):
                continue
            elif use["name"] == "TaskCreate":
                out[("task", str(result["task"]["id"]))] = "pending"
            elif use["name"] == "TaskUpdate" and use["input"].get("status"):
                out[("task", str(use["input"]["taskId"]))] = use["input"]["status"]
    for line in path.open(encoding="utf-8", errors="replace"):  # ends reported by notices
        if "<task-notification>" in line:
            for ident, key in agents.items():
                if f"<task-id>{ident}</task-id>" in line and "<status>completed</status>" in line:
                    out[key] = "completed"
    out.pop(None, None)
    return out


def reported(exe, session):
    tasks = json.loads(subprocess.run([exe, "tasks", "--session", session, "--json"], check=True, capture_output=True).stdout)
    out = {}
    for t in tasks:
        if t["kind"] == "topic":
            continue
        name = {"todo": t["subject"], "task": t["id"], "agent": t["id"].removeprefix("agent:")}[t["kind"]]
        out[(t["kind"], name)] = t["status"]
    return out


def main():
    exe = sys.argv[2] if len(sys.argv) > 2 else "strandline"
    total, wrong = collections.Counter(), 0
    print(f"{'session':9} {'tasks':>5} {'todos':>5} {'agents':>6}  states")
    for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.jsonl")):
        want = states(path)
        if not want:
            continue
        have = reported(exe, path.stem)
        kinds = collections.Counter(kind for kind, _ in want)
        ends = collections.Counter(want.values())
        total.update(ends)
        total.update(kinds)
        print(f"{path.stem[:8]:9} {kinds['task']:5} {kinds['todo']:5} {kinds['agent']:6}  " +
              ", ".join(f"{n} {s}" for s, n in sorted(ends.items())))
        for key in sorted(want.keys() | have.keys(), key=str):
            if want.get(key) != have.get(key):
                wrong += 1
                print("   differs:", key[0], key[1][:60], "| counted", want.get(key), "| reported", have.get(key))
    print(f"all       {total['task']:5} {total['todo']:5} {total['agent']:6}  " +
          ", ".join(f"{total[s]} {s}" for s in ("completed", "in_progress", "pending", "deleted", "failed")) + f"; {wrong} differ")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
