"""INCRBYFLOAT and HINCRBYFLOAT: a server adds long doubles, and writes 17 digits after the point.

Long doubles have 64 bits, as on x86-64: 1000.1 + 0.2 is 1000.29999999999999999 there.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from fractions import Fraction

from badluck.model.collections import fields_of, put_fields
from badluck.model.keyspace import Keyspace
from badluck.model.parsing import CommandRefused, Undefined
from badluck.model.values import Command, Reply

BITS = 64
BEHIND = 17  # digits
LARGEST = 300  # digits before the point, or zeros behind it, within the range of any float
NO_FLOAT = "ERR value is not a valid float"


def add(keys: Keyspace, command: Command) -> Reply:
    """INCRBYFLOAT."""
    old = keys.value(command[1], bytes)
    total = _sum(_read(b"0" if old is None else old), _read(command[2]))
    keys.change(command[1], total)
    return total


def add_in_hash(keys: Keyspace, command: Command) -> Reply:
    """HINCRBYFLOAT."""
    _, key, field, by = command
    amount = _read(by)
    fields = fields_of(keys, key)
    total = _sum(_read(fields.get(field, b"0"), "ERR hash value is not a float"), amount)
    put_fields(keys, key, fields | {field: total})
    return total


def _read(text: bytes, otherwise: str = NO_FLOAT) -> Fraction:
    """Raises CommandRefused, and Undefined for a number that only a C library may read."""
    plain = text.lower().lstrip(b"+-")
    if plain.startswith((b"inf", b"0x")):
        raise Undefined(f"{text.decode()} as a number")
    try:
        number = Decimal(text.decode())
    except (InvalidOperation, UnicodeDecodeError):
        raise CommandRefused(otherwise) from None
    if not number.is_finite() or text != text.strip() or b"_" in text:
        raise CommandRefused(otherwise)
    if (number.is_signed() and not number) or abs(number.adjusted()) > LARGEST:
        raise Undefined(f"{text.decode()} as a number")
    return _rounded(Fraction(number))


def _rounded(number: Fraction) -> Fraction:
    """Round to BITS binary digits, ties to even."""
    if not number:
        return number
    shift = BITS - 1 - abs(number.numerator).bit_length() + number.denominator.bit_length()
    if abs(number) * Fraction(2) ** shift < 2 ** (BITS - 1):
        shift += 1
    return round(number * Fraction(2) ** shift) / Fraction(2) ** shift


def _sum(one: Fraction, other: Fraction) -> bytes:
    total = _rounded(one + other)
    digits = round(abs(total) * 10**BEHIND)
    if total < 0 and not digits:
        raise Undefined("a number so small that it is written as -0")
    before, behind = divmod(digits, 10**BEHIND)
    text = f"{'-' * (total < 0)}{before}.{behind:0{BEHIND}}"
    return text.rstrip("0").rstrip(".").encode()
