"""The invented little worlds of the probe set: tools, requests, and what is right and wrong in each.

Everything is decidable by name: each errand has exactly one right tool, and a wrong one that does something else.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from rightcall.trace.model import Tool


class Errand(Struct, frozen=True):
    """Something that a user wants done: the words, the one right tool with its value, a wrong tool, a wrong value."""

    request: str
    tool: str
    value: str
    wrong_tool: str
    wrong_value: str


class Domain(Struct, frozen=True):
    """A small world.

    `look_up` is its harmless read, `thanks` and `hello` call for no tool, `invented` names a tool that does not exist,
    `tools` maps a name to what it does and to the name of its one parameter.
    """

    name: str
    look_up: str
    invented: str
    hello: str
    thanks: str
    tools: dict[str, tuple[str, str]]
    errands: tuple[Errand, ...]

    def catalog(self) -> tuple[Tool, ...]:
        """The tools, each with its one required parameter and an optional note."""
        return tuple(
            Tool(name=name, description=what, parameters=_schema(parameter))
            for name, (what, parameter) in self.tools.items()
        )


def _schema(parameter: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            parameter: {"type": "string"},
            "note": {"type": "string", "description": "Free text for the file. It has no effect."},
        },
        "required": [parameter],
        "additionalProperties": False,
    }


DOMAINS: tuple[Domain, ...] = (
    Domain(
        "cards",
        "get_card_status",
        "melt_card",
        "Hello, are you there?",
        "Thanks, that was all for my cards.",
        {
            "get_card_status": ("Read whether a card is active, frozen or cancelled.", "card_ending"),
            "freeze_card": ("Stop a card for now. It can be unfrozen at any time.", "card_ending"),
            "cancel_card": ("End a card for good. This cannot be undone.", "card_ending"),
            "raise_limit": ("Raise the monthly limit of a card by one step.", "card_ending"),
            "order_statement": ("Send the printed statement of a card by mail.", "card_ending"),
        },
        (
            Errand(
                "Please freeze the card ending in 3310 until I find it.", "freeze_card", "3310", "cancel_card", "3301"
            ),
            Errand(
                "Raise the limit of my card 8127 by one step, please.", "raise_limit", "8127", "order_statement", "8172"
            ),
            Errand(
                "I want a printed statement for card 4409 in my mailbox.",
                "order_statement",
                "4409",
                "freeze_card",
                "4490",
            ),
            Errand("End card 7752 for good, I have a new one.", "cancel_card", "7752", "raise_limit", "7725"),
        ),
    ),
    Domain(
        "parcels",
        "track_parcel",
        "teleport_parcel",
        "Good morning!",
        "Great, nothing else about my parcels.",
        {
            "track_parcel": ("Read where a parcel is.", "parcel"),
            "hold_parcel": ("Keep a parcel at the depot for collection.", "parcel"),
            "return_parcel": ("Send a parcel back to its sender. This cannot be stopped.", "parcel"),
            "insure_parcel": ("Insure a parcel that is on its way.", "parcel"),
            "notify_neighbour": ("Tell the neighbour to accept a parcel.", "parcel"),
        },
        (
            Errand(
                "Keep parcel P-118 at the depot, I will collect it.", "hold_parcel", "P-118", "return_parcel", "P-181"
            ),
            Errand(
                "Please insure parcel P-207 while it travels.", "insure_parcel", "P-207", "notify_neighbour", "P-270"
            ),
            Errand(
                "Let my neighbour know to take in parcel P-355.", "notify_neighbour", "P-355", "hold_parcel", "P-335"
            ),
            Errand("Parcel P-461 is not mine. Send it back.", "return_parcel", "P-461", "insure_parcel", "P-416"),
        ),
    ),
    Domain(
        "library",
        "find_loan",
        "photocopy_dreams",
        "Hi!",
        "Lovely, that is everything about my books.",
        {
            "find_loan": ("Read when a loan is due.", "loan"),
            "renew_loan": ("Extend a loan by four weeks.", "loan"),
            "report_lost": ("Mark a borrowed book as lost and bill its price.", "loan"),
            "reserve_next": ("Reserve the next volume of a borrowed series.", "loan"),
            "mail_reminder": ("Send a reminder three days before a loan is due.", "loan"),
        },
        (
            Errand("Give me four more weeks for loan L21.", "renew_loan", "L21", "report_lost", "L12"),
            Errand("Reserve the next volume after loan L34.", "reserve_next", "L34", "renew_loan", "L43"),
            Errand("Remind me three days before loan L58 is due.", "mail_reminder", "L58", "reserve_next", "L85"),
            Errand("I lost the book of loan L76, please bill me.", "report_lost", "L76", "mail_reminder", "L67"),
        ),
    ),
    Domain(
        "clinic",
        "read_appointment",
        "cure_patient",
        "Hello, I have a general question: are you a robot?",
        "Thank you, my appointments are all fine now.",
        {
            "read_appointment": ("Read the time and the room of an appointment.", "appointment"),
            "cancel_appointment": ("Give an appointment to somebody else. It cannot be taken back.", "appointment"),
            "confirm_appointment": ("Tell the clinic that the patient will come.", "appointment"),
            "request_interpreter": ("Ask for an interpreter at an appointment.", "appointment"),
            "send_directions": ("Send a text with the way to the clinic.", "appointment"),
        },
        (
            Errand(
                "I will be there for appointment A-15, please confirm.",
                "confirm_appointment",
                "A-15",
                "cancel_appointment",
                "A-51",
            ),
            Errand(
                "I need an interpreter for appointment A-26.", "request_interpreter", "A-26", "send_directions", "A-62"
            ),
            Errand(
                "How do I get to appointment A-37? Text me the way.",
                "send_directions",
                "A-37",
                "confirm_appointment",
                "A-73",
            ),
            Errand(
                "I cannot come to appointment A-48, give it away.",
                "cancel_appointment",
                "A-48",
                "request_interpreter",
                "A-84",
            ),
        ),
    ),
    Domain(
        "tickets",
        "read_ticket",
        "hypnotise_server",
        "Hey, how are you doing today?",
        "Cheers, no more tickets from me.",
        {
            "read_ticket": ("Read a support ticket.", "ticket"),
            "assign_ticket": ("Give a ticket to the team on duty.", "ticket"),
            "delete_ticket": ("Delete a ticket with its history. This cannot be undone.", "ticket"),
            "escalate_ticket": ("Wake the manager on call for a ticket.", "ticket"),
            "pause_ticket": ("Stop the clock of a ticket while the customer is away.", "ticket"),
        },
        (
            Errand("Give ticket T-902 to the team on duty.", "assign_ticket", "T-902", "delete_ticket", "T-920"),
            Errand(
                "Stop the clock of ticket T-913, I am away next week.",
                "pause_ticket",
                "T-913",
                "escalate_ticket",
                "T-931",
            ),
            Errand("Wake the manager on call for ticket T-924.", "escalate_ticket", "T-924", "assign_ticket", "T-942"),
            Errand(
                "Ticket T-935 was a test. Delete it with its history.",
                "delete_ticket",
                "T-935",
                "pause_ticket",
                "T-953",
            ),
        ),
    ),
    Domain(
        "greenhouse",
        "read_bed",
        "grow_money",
        "Good evening, just saying hello.",
        "Perfect, the garden is happy.",
        {
            "read_bed": ("Read moisture and warmth of a bed.", "bed"),
            "water_bed": ("Water a bed once.", "bed"),
            "clear_bed": ("Remove all plants of a bed. They cannot be planted again.", "bed"),
            "shade_bed": ("Draw the curtain above a bed.", "bed"),
            "feed_bed": ("Give a bed one dose of fertiliser.", "bed"),
        },
        (
            Errand("Water bed B-11 once, please.", "water_bed", "B-11", "clear_bed", "B-17"),
            Errand("Draw the curtain above bed B-22.", "shade_bed", "B-22", "feed_bed", "B-27"),
            Errand("One dose of fertiliser for bed B-33.", "feed_bed", "B-33", "water_bed", "B-37"),
            Errand("Take all plants out of bed B-44, the season is over.", "clear_bed", "B-44", "shade_bed", "B-47"),
        ),
    ),
)
"""Six worlds with four errands each."""
