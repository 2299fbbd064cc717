"""Question sets of a few lines, in the official schemas."""

import json

import pytest


@pytest.fixture
def locomo(tmp_path):
    """Two sessions of two people; one question per category that is asked, and one that is not."""
    conversation = {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Anna", "dia_id": "D1:1", "text": "I planted tomatoes behind the shed."},
            {"speaker": "Bert", "dia_id": "D1:2", "text": "Nice! Which kind?"},
            {"speaker": "Anna", "dia_id": "D1:3", "text": "Look.", "blip_caption": "yellow plums"},
        ],
        "session_2_date_time": "9:00 am on 2 June, 2023",
        "session_2": [
            {"speaker": "Bert", "dia_id": "D2:1", "text": "My bicycle was stolen at the station."}
        ],
        "session_3": [],
    }
    qa = [
        {"question": "What did Anna plant?", "evidence": ["D1:1"], "category": 4},
        {"question": "What was stolen from Bert?", "evidence": ["D2:1"], "category": 1},
        {"question": "What did Anna steal?", "evidence": ["D1:1"], "category": 5},
        {"question": "Nobody knows?", "evidence": [], "category": 4},
    ]
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([{"sample_id": "c1", "conversation": conversation, "qa": qa}]))
    return path
