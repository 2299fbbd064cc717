"""A model that is registered with ``llm`` the way its plugins do it, and plays the four roles."""

import json
import re
from contextlib import contextmanager

from memory_palace.features.redqueen.llm import read_prompt

ROLES = ("examiner", "learner", "evaluator", "evolver")


def role_of(prompt):
    return next((role for role in ROLES if prompt.startswith(read_prompt(role))), None)


def data_of(prompt):
    return json.loads(prompt[prompt.index("\n{\n ") : prompt.rindex("\n}\n") + 2])


class Player:
    """Answers each role from the data in its prompt; ``spoil`` replaces the next replies."""

    def __init__(self):
        self.prompts = []
        self.schemas = []
        self.spoil = []
        self.error = None
        self.counts_tokens = True
        self.proposes = {}

    def reply(self, prompt):
        self.prompts.append(prompt)
        if self.error is not None:
            raise self.error
        if self.spoil:
            return self.spoil.pop(0)
        role = role_of(prompt)
        return json.dumps(getattr(self, role)(data_of(prompt))) if role else "The answer is 2026."

    def asked_as(self, role):
        """Return the data of every prompt of a role."""
        return [data_of(prompt) for prompt in self.prompts if role_of(prompt) == role]

    def examiner(self, data):
        return {"questions": {
            t["id"]: {"question": f"What of it? {n}", "difficulty": 3,
                      "expected": [re.findall(r"\w{4,}", t["content"])[0]]}
            for n, t in enumerate(data["targets"])
        }}  # fmt: skip

    def learner(self, data):
        first = data["cues"][0]["id"]
        return {"answers": {
            q["id"]: {"recalled": [first, "m9999"], "answer": "hardly", "confidence": 2}
            for q in data["questions"]
        }}  # fmt: skip

    def evaluator(self, data):
        return {"evaluations": {
            c["id"]: {"accuracy": 30, "missed": c["expected"], "misconceptions": [],
                      "image": "weak" if c["image"] else "none", "calibration": "over"}
            for c in data["cases"]
        }}  # fmt: skip

    def evolver(self, data):
        nothing = {"questions": [], "aliases": [], "image": ""}
        return {
            "memories": {
                m["id"]: nothing | self.proposes.get(m["subject"], {}) for m in data["memories"]
            }
        }


@contextmanager
def registered(player, monkeypatch, folder):
    """Register a player as the model ``talker-1`` with the alias ``talker``."""
    monkeypatch.setenv("LLM_USER_PATH", str(folder))
    import llm
    from llm.plugins import load_plugins, pm

    load_plugins()

    class Talker(llm.Model):
        model_id = "talker-1"
        supports_schema = True

        def execute(self, prompt, stream, response, conversation=None):
            player.schemas.append(prompt.schema)
            text = player.reply(prompt.prompt)
            if player.counts_tokens:
                response.set_usage(input=1000, output=500)
            yield text

    class Module:
        @llm.hookimpl
        def register_models(self, register):
            register(Talker(), aliases=("talker",))

    module = Module()
    pm.register(module, "talker")
    yield player
    pm.unregister(module)
