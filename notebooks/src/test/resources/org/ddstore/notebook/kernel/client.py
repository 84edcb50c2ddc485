# SPDX-License-Identifier: Apache-2.0
"""A client of Jupyter for tests: one kernel, driven by JSON objects on standard input, one a line.

Starts the kernel "ddstore" of JUPYTER_PATH, and answers each command by one line: a JSON object.
"""
import json
import queue
import sys
import time

from jupyter_client.manager import KernelManager

LIMIT = 120


def start():
    manager = KernelManager(kernel_name="ddstore", shutdown_wait_time=LIMIT)
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=LIMIT)
    return manager, client


def outputs_of(client, message_id, reply_timeout=LIMIT):
    """Collects what is published for a request until the kernel is idle, then adds the reply."""
    outputs = []
    deadline = time.monotonic() + reply_timeout
    while True:
        message = client.get_iopub_msg(timeout=max(0, deadline - time.monotonic()))
        if message["parent_header"].get("msg_id") != message_id:
            continue
        content = message["content"]
        if message["msg_type"] == "status":
            if content["execution_state"] == "idle":
                break
        elif message["msg_type"] != "execute_input":
            outputs.append(dict(content, type=message["msg_type"]))
    reply = client.get_shell_msg(timeout=max(0, deadline - time.monotonic()))
    while reply["parent_header"].get("msg_id") != message_id:
        reply = client.get_shell_msg(timeout=max(0, deadline - time.monotonic()))
    return {"outputs": outputs, "reply": reply["content"]}


def main():
    manager, client = start()
    print(json.dumps({"pid": manager.provisioner.process.pid}), flush=True)
    pending = None
    for line in sys.stdin:
        command = json.loads(line)
        do = command.pop("do")
        if do == "execute":
            answer = outputs_of(client, client.execute(**command))
        elif do == "send":
            pending = [client.execute(code) for code in command["codes"]]
            answer = {}
        elif do == "send inspect":
            client.inspect(**command)
            answer = {}
        elif do == "await output":
            answer = await_output(client, command["text"])
        elif do == "replies":
            answer = {"replies": [reply_to(client, each) for each in pending]}
        elif do == "interrupt":
            manager.interrupt_kernel()
            answer = {}
        elif do == "shutdown":
            client.stop_channels()
            manager.shutdown_kernel()
            answer = {"status": manager.provisioner is None or not manager.is_alive()}
        else:
            send = {"complete": client.complete, "inspect": client.inspect,
                    "is_complete": client.is_complete}[do]
            answer = reply_to(client, send(**command))
        print(json.dumps(answer), flush=True)


def reply_to(client, message_id):
    while True:
        reply = client.get_shell_msg(timeout=LIMIT)
        if reply["parent_header"].get("msg_id") == message_id:
            return reply["content"]


def await_output(client, text):
    """Waits until a cell that runs has shown a text."""
    while True:
        message = client.get_iopub_msg(timeout=LIMIT)
        if text in json.dumps(message["content"]):
            return {}


try:
    main()
except queue.Empty:
    print(json.dumps({"error": "no answer of the kernel within %d s" % LIMIT}), flush=True)
    sys.exit(1)
