"""Makes vectors.json: times as xarray and cftime decode, encode and print them.

    python -m venv v && v/bin/pip install xarray==2026.9.0 cftime==1.6.6.1 pandas==3.1.1 numpy==2.4.6
    v/bin/python vectors.py

Always the same cases; an argument makes as many times more, of another seed. Run it on x86-64, whose long double cftime
computes with. Cases in which xarray silently gives a wrong time are errors here; `src/time.rs` lists them.
"""

import json
import pathlib
import random
import sys
import warnings
from fractions import Fraction

import cftime
import numpy as np
import pandas as pd
from xarray.coding import cftimeindex, times

warnings.simplefilter("ignore")
MORE = int(sys.argv[1]) if len(sys.argv) > 1 else 1
random.seed(20240229 * MORE)

CALENDARS = ["standard", "gregorian", "proleptic_gregorian", "julian", "noleap", "365_day", "all_leap", "366_day",
             "360_day", "Gregorian", "NoLeap"]
UNITS = ["days", "hours", "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds", "day", "Hour", "s", "hr",
         "h", "min", "mins", "sec", "ms", "msecs", "microsec", "d"]
NS = {"day": 86400 * 10**9, "d": 86400 * 10**9, "h": 3600 * 10**9, "m": 60 * 10**9, "s": 10**9, "ms": 10**6,
      "milli": 10**6, "micro": 10**3, "nano": 1, "mi": 60 * 10**9, "mo": 30 * 86400 * 10**9, "c": 365 * 86400 * 10**9}
DATES = ["1970-01-01", "2000-01-01 00:00:00", "1900-1-1 0:0:0", "1800-01-01T00:00:00Z", "0001-01-01", "1-1-1 00:00:0.0",
         "1582-10-15", "1582-10-04 12:00:00", "1601-01-01", "2000-02-28 12:30:15.25", "1970-01-01 00:00:00 +02:00",
         "1677-09-22", "2262-04-11", "2000-02-29", "0000-01-01", "-4713-01-01 12:00", "1700-03-01 00:00:00.123456789",
         "9999-12-31", "12000-06-01", "1969-12-31 23:59:59.999999", "1850-01-01 00:00:00 -05:30", "2100-12-30"]


def length(unit):
    unit = unit.lower()
    return next(NS[name] for name in sorted(NS, key=len, reverse=True) if unit.startswith(name))


def number(value):
    """A number as JSON has it, and NaN and infinities as Python writes them."""
    return value.item() if isinstance(value, np.generic) else value


def dates(array):
    return [None if date is None else str(date) for date in array]


def nanoseconds(array):
    return [None if value == np.iinfo("i8").min else int(value) for value in array.astype("M8[ns]").astype("i8")]


def values(unit, kind):
    """A few numbers around a scale that is interesting for the unit."""
    ns = length(unit)
    scale = random.choice([10, 1000, 100 * 365.25 * 86400e9 / ns, 300 * 365.25 * 86400e9 / ns,
                           random.choice([1000, 3000]) * 365.25 * 86400e9 / ns, 2.0**63 / ns, 2.0**62 / ns])
    count = random.randint(1, 4)
    found = [random.choice([random.uniform(-scale, scale), scale - random.uniform(0, 10), random.uniform(-5, 5)])
             for _ in range(count)]
    if random.random() < 0.01:
        found[0] = random.choice([2.0**63, 1e300, -1e19, 2.0**62, float("inf"), -float("inf")])
    if kind == "u":
        return np.array([min(abs(int(value)), 2**64 - 1) if abs(value) < 1e300 else 2**64 - 1 for value in found], "u8")
    if kind == "i":
        whole = [max(min(int(value), 2**63 - 1), -2**63) if abs(value) < 1e300 else 2**63 - 1 for value in found]
        if random.random() < 0.05:
            whole[-1] = -2**63
        return np.array(whole, "i8")
    style = random.choice(["whole", "decimal", "half", "any", "micro"])
    rounded = {"whole": lambda value: float(round(value)), "decimal": lambda value: round(value, random.randint(1, 6)),
               "half": lambda value: round(value * 8) / 8, "any": lambda value: value,
               "micro": lambda value: round(value * ns / 1e3) * 1e3 / ns + random.choice([0, 1, -1]) * 1e3 / ns}
    with np.errstate(all="ignore"):
        found = [rounded[style](value) if abs(value) < 1e300 else value for value in found]
    if random.random() < 0.1:
        found[random.randrange(count)] = float("nan")
    return np.array(found, "f4" if kind == "f" else "f8")


def attempt(call):
    try:
        with np.errstate(all="ignore"):
            return call()
    except Exception:
        return None


def missing(array):
    return np.isnan(array) if array.dtype.kind == "f" else array.astype("i8") == np.iinfo("i8").min \
        if array.dtype.kind == "i" else np.zeros(array.shape, bool)


def decoded(array, units, calendar):
    """The kind of the first and the last number, and the times; None where xarray refuses that all are missing."""
    absent = missing(array)
    if array.dtype.kind == "f" and np.isinf(array).any():
        return [], None
    # xarray decodes missing numbers to dates, or checks no range beside them, so that they go apart.
    present = array[~absent]
    if not present.size:
        found = attempt(lambda: times.decode_cf_datetime(array.copy(), units, calendar))
        return None if found is None or found.dtype == object else (["M"], [None] * array.size)
    found = attempt(lambda: times.decode_cf_datetime(present.copy(), units, calendar))
    if found is None:
        return [], None
    kind = attempt(lambda: times._decode_cf_datetime_dtype(array, units, calendar, None))
    kind = [] if absent[0] or absent[-1] or kind is None else [kind.kind]
    if found.dtype != object:
        start = attempt(lambda: times.decode_cf_datetime(np.array([0]), units, calendar).view("i8").item())
        factor = length(units.split()[0])
        far = [start is not None and abs(Fraction(value.item()) * factor + start) >= 2**63 for value in present]
        if any(far) or np.isnat(found).any():
            found = attempt(lambda: times.decode_cf_datetime(present.astype("f8"), units, calendar, use_cftime=True))
            kind = []
            if found is None:
                return [], None
    whole = iter(dates(found) if found.dtype == object else nanoseconds(found))
    return kind, [None if gone else next(whole) for gone in absent]


# The ends of nanoseconds since 1970, by way of them and by way of dates, and of the integers.
ENDS = [(value, units) for units, values in [
    ("microsec since 1970-01-01", [2**63 // 1000 - 1, 2**63 // 1000 + 1, 2**63 // 1000 + 3]),
    ("microseconds since 1970-01-01", [2**63 // 1000, 2**63 // 1000 + 1]),
    ("nanoseconds since 1970-01-01", [2**63 - 1, 2**63 - 2]),
    ("nanoseconds since 1970-01-01 00:00:00.000000001", [2**63 - 1, 2**63 - 2]),
    ("nanoseconds since 1969-12-31 23:59:59.999999999", [2**63 - 1, 2**63 - 2]),
    ("days since 1970-01-01", [106751, 106752]),
    ("d since 1970-01-01", [106751, 106752, 106751991, 106751992]),
] for value in values]


def decoding():
    groups = {}
    for value, units in ENDS:
        for array in [np.array([value], "i8"), np.array([-value], "i8"), np.array([value, 0], "u8")]:
            case = [array.dtype.kind, [number(value) for value in array], *decoded(array, units, "standard")]
            groups.setdefault((units, "standard"), []).append(case)
    target = 980 * MORE
    count = 0
    while count < target:
        calendar = random.choice(CALENDARS[:3] + CALENDARS)
        unit = random.choice(UNITS[:6] + UNITS)
        if calendar == "360_day" and random.random() < 0.2:
            unit = random.choice(["months", "month"])
        if calendar.lower() in ("noleap", "365_day") and random.random() < 0.2:
            unit = "common_years"
        units = f"{unit} since {random.choice(DATES[:4] + DATES)}"
        kind = random.choice("iiufddd")
        array = values(unit, kind)
        case = decoded(array, units, calendar)
        if case is None:
            continue
        count += 1
        groups.setdefault((units, calendar), []).append([kind, [number(value) for value in array], *case])
    return [[*key, cases] for key, cases in sorted(groups.items())]


def references():
    """Reference dates of many spellings: the time of 0, and the units as xarray writes them."""
    days = ["2000-01-01", "2000-1-1", "1999-12-31", "2000", "2000-02", "20000201", "2000/2/1", "2000.2.1", "1500-02-29",
            "2000-02-30", "2000-13-01", "2000-00-01", "0-1-1", "5-1-1", "-5-01-01", "70-01-01", "123-4-5", "10000-01-01",
            "1582-10-10", "1582-10-15", "2000-01-00", "9999-12-31"]
    hours = ["", "", " 00:00:00", "T00:00:00", " 0:0:0", " 12:30", " 06", " 12:30:15.5", "T12:30:15.123456789",
             " 12:30:15.000009", " 24:00:00", " 12:60", " 1:2:3", "  12:30:15", " 12:30:15."]
    zones = ["", "", "", "Z", " Z", " UTC", " GMT", " +02:00", "+02:00", "-0530", " -05", " +5", " +5:30", " +24:00"]
    found = {}
    while len(found) < 300 * MORE:
        # pandas takes a zone behind a day for an hour, and knows times of months; here they are errors.
        day, hour = random.choice(days), random.choice(hours)
        zone = random.choice(zones if hour else ["", "", "Z", " +02:00"])
        # It also takes any four digits for a year, and passes less forms where that is not of them.
        if not day.startswith(("1999", "2000")):
            hour = random.choice(hours[:6] + [" 1:2:3", " 12:30:15.5"])
            zone = random.choice(["", "Z", " +02:00"] + (["+02:00", " -05"] if hour else []))
        date = f"{day}{hour}{zone}" if day.count("-") > 1 else day
        unit = random.choice(["days", "Seconds", "hour", "sec", "h", "nanoseconds", "years", "months", "fortnights"])
        between = random.choice([" since "] * 8 + ["  since  ", " SINCE ", "\tsince\t", " after "])
        key = f"{unit}{between}{date}", random.choice(CALENDARS)
        case = decoded(np.array([0]), *key)
        written = attempt(lambda: times._cleanup_netcdf_time_units(key[0]))
        found[key] = [*key, case and case[1], written]
    return list(found.values())


def encoded(array, units, calendar, dtype):
    kinds = {"a": None, "i": np.dtype("i8"), "f": np.dtype("f8")}
    return attempt(lambda: times.encode_cf_datetime(array, units, calendar, kinds[dtype]))


by_cftime = []
encode_with_cftime = times._encode_datetime_with_cftime
times._encode_datetime_with_cftime = lambda *all: (by_cftime.append(1), encode_with_cftime(*all))[1]


def random_nanoseconds():
    step = random.choice([86400 * 10**9, 3600 * 10**9, 60 * 10**9, 10**9, 10**6, 1000, 1])
    start = random.choice([0, 946684800 * 10**9, random.randrange(-2**62, 2**62) // step * step,
                           -2208988800 * 10**9, random.randrange(-10**9, 10**9)])
    return [start + step * random.randint(-20, 20) for _ in range(random.randint(0, 4))]


def encoding_nanoseconds():
    found = []
    while len(found) < 300 * MORE:
        array = np.array(random_nanoseconds(), "i8").view("M8[ns]")
        if array.size and random.random() < 0.1:
            array[random.randrange(array.size)] = "NaT"
        unit = random.choice(UNITS[:7])
        units = None if random.random() < 0.25 else f"{unit} since {random.choice(DATES[:4] + DATES)}"
        calendar = random.choice(["standard", "proleptic_gregorian", "gregorian", "noleap", "360_day"]) if units else None
        dtype = random.choice("aaif") if units else "a"
        by_cftime.clear()
        case = encoded(array, units, calendar, dtype)
        missing = np.isnat(array)
        # Integers beside a missing time have been floats before.
        if missing.any() and (case is None or by_cftime and dtype == "i") or case is None and not array.size:
            continue
        # Nanoseconds that cftime cuts off.
        if by_cftime and (array.astype("M8[us]") != array)[~missing].any():
            case = None
        found.append([nanoseconds(array), units, calendar, dtype, *result(case, missing, dtype)])
    return found


def result(case, missing, dtype):
    """Numbers and units. Where xarray leaves it to a later step to make `dtype` of the numbers, it is done here."""
    if case is None:
        return [None]
    numbers = case[0].astype("f8") if dtype == "f" else case[0]
    kind = "i" if numbers.dtype == np.int64 or dtype == "i" else "f"
    numbers = [None if gone else number(value) for value, gone in zip(numbers, missing)]
    if kind == "i":
        numbers = [value if value is None else int(value) for value in numbers]
    return [kind, numbers, case[1]]


def encoding_dates():
    found = []
    while len(found) < 250 * MORE:
        calendar = random.choice(["standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day"])
        start = attempt(lambda: cftime.datetime(random.choice([1, 1582, 1970, 2000, random.randint(1, 9999)]),
                                                random.randint(1, 12), random.randint(1, 31), calendar=calendar))
        if start is None:
            continue
        step = random.choice([86400 * 10**6, 3600 * 10**6, 60 * 10**6, 10**6, 1000, 1])
        ends = [start + pd.Timedelta(microseconds=0).to_pytimedelta() * 0 for _ in range(random.randint(1, 4))]
        array = np.array([date + np.timedelta64(step * random.randint(-50, 50), "us").astype(object) for date in ends])
        units = None if random.random() < 0.3 else f"{random.choice(UNITS[:6])} since {random.choice(DATES)}"
        dtype = random.choice("aai") if units else "a"
        case = encoded(array, units, calendar, dtype)
        found.append([dates(array), units, calendar, dtype, *result(case, [False] * array.size, dtype)])
    return found


def decoding_deltas():
    found = []
    while len(found) < 300 * MORE:
        units, kind = random.choice(UNITS[:9]), random.choice("iufdd")
        array = values(units, kind)
        case = attempt(lambda: times.decode_cf_timedelta(array.copy(), units).astype("i8"))
        absent = missing(array)
        if case is not None and ((case == np.iinfo("i8").min) & ~absent).any():
            case = None
        case = case is not None and [None if gone else int(value) for value, gone in zip(case, absent)]
        found.append([units, kind, [number(value) for value in array], case or None])
    return found


def encoding_deltas():
    found = []
    for _ in range(150 * MORE):
        array = np.array(random_nanoseconds(), "i8").view("m8[ns]")
        if array.size and random.random() < 0.2:
            array[random.randrange(array.size)] = "NaT"
        units = random.choice([None] + UNITS[:9])
        dtype = random.choice("aaif") if units else "a"
        kinds = {"a": None, "i": np.dtype("i8"), "f": np.dtype("f8")}
        case = times.encode_cf_timedelta(array, units, kinds[dtype])
        numbers = [None if value == np.iinfo("i8").min else int(value) for value in array.astype("i8")]
        found.append([numbers, units, dtype, *result(case, np.isnat(array), dtype)])
    return found


def partial():
    """Ranges of partial dates; pandas and xarray end them one nanosecond or microsecond before the next."""
    parts = ["2000", "-05", "-31", "T12", ":30", ":05"]
    texts = ["".join(parts[:count]) for count in range(1, 7)] + ["2000-02-28 23:59:59", "2000-12", "1582-10", "1582-10-04",
             "1582-10-05", "2000-02-29", "2000-02-30", "20000531T1230", "2000-1", "2000-13", "1999-12-31", "0001", "9998-12",
             "2000-05-31T12:30:05.5", "2000-05-31T12:30:05.123456", "2000-05-31T12:3", "2000-05-31T", "200005", "20", "",
             "2000-05-31T12:30:05.", "-0005-06", "12000-01-01", "2000-05-31T24", "abcd", "2262-04-11", "2262", "1677"]
    found = []
    for text in texts:
        for calendar in ["standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day"]:
            date_type = type(cftime.num2date(0, "days since 2000-01-01", calendar))
            case = attempt(lambda: times._parse_iso8601(date_type, text))
            # xarray has no ranges of less than a second; the start is compared alone.
            bounds = case and attempt(lambda: cftimeindex._parsed_string_to_bounds(date_type, case[1], case[0]))
            microsecond = np.timedelta64(1, "us").astype(object)
            ends = bounds and [str(bounds[0]), str(bounds[1] + microsecond)]
            found.append([text, calendar, ends or (case and [str(case[0])])])
    index = pd.DatetimeIndex(["2000-01-01"]).as_unit("ns")
    for text in texts:
        case = attempt(lambda: index._parsed_string_to_bounds(*reversed(index._parse_with_reso(text))))
        # pandas also takes single digits and separators with nothing behind.
        if case is not None and attempt(lambda: times.parse_iso8601_like(text)):
            found.append([text, None, [int(case[0].as_unit("ns").value), int(case[1].as_unit("ns").value) + 1]])
    return found


sections = {"decode": decoding(), "references": references(), "encode_nanoseconds": encoding_nanoseconds(),
            "encode_dates": encoding_dates(), "decode_deltas": decoding_deltas(), "encode_deltas": encoding_deltas(),
            "partial": partial()}
compact = {name: ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) for name, cases in sections.items()}
text = ",\n".join(f'"{name}":[\n{cases}\n]' for name, cases in compact.items())
path = pathlib.Path(__file__).with_name("vectors.json")
path.write_text("{\n" + text + "\n}\n")
print({name: (len(cases), len(compact[name])) for name, cases in sections.items()}, path.stat().st_size, "bytes")
