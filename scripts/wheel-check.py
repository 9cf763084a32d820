"""What an installed wheel must do, whatever else is installed: run by scripts/wheels.sh in a fresh environment."""

import pickle
import sys
import sysconfig
import threading
from importlib import metadata
from importlib.util import find_spec

wheel = sys.argv[1]
free = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
assert ("-cp310-abi3-" in wheel) != free, wheel

import conspectus  # noqa: E402
import conspectus.anthropic  # noqa: E402
import conspectus.batch  # noqa: E402
import conspectus.openai  # noqa: E402

if free:
    assert not sys._is_gil_enabled(), "importing it brought the lock back"
files = {str(file) for file in metadata.files("conspectus") or ()}
assert {"conspectus/py.typed", "conspectus/_native.pyi"} <= files, files
assert metadata.version("conspectus") == conspectus.__version__
assert not any("tests" in file or "examples" in file for file in files)

LONG = "It rained all day, and the garden was glad of it. " * 200
CHAT = [
    {"role": "user", "content": "Tell me of the weather. " + LONG},
    {"role": "assistant", "content": LONG},
    {"role": "user", "content": "And tomorrow?"},
]
made = conspectus.compact(CHAT)
assert made.report.outcome == "compacted" and made.messages[-1] == CHAT[-1]
note = conspectus.compact(CHAT, model=lambda call: "## Goal\nThe weather\n## State\n- it rained")
assert "it rained" in note.summary
policy = conspectus.Policy(trigger=("tokens", 1000), keep=("messages", 2), window=8000)
assert pickle.loads(pickle.dumps(policy)).numbers() == policy.numbers()
assert conspectus.openai.compact(CHAT, policy).messages[-1] is CHAT[-1]
assert conspectus.batch.Compact(policy)({"messages": CHAT})["conspectus_outcome"] == "compacted"
try:
    conspectus.Policy(trigger=("tokens", -1))
except conspectus.PolicyError:
    pass
else:
    raise AssertionError("a policy that cannot work is taken")
assert find_spec("langchain") is not None or "langchain" not in sys.modules

together = []
threads = [
    threading.Thread(target=lambda: together.append(conspectus.compact(CHAT).messages)) for _ in range(8)
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert together == [made.messages] * 8
kind = "free-threaded" if free else "stable ABI"
print(f"{wheel}: good on Python {sys.version.split()[0]}, {kind}")
