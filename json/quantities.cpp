// The getters of measured quantities: {"value", "unit", "source", "kind"}.
#include <cmath>

#include "json/document_state.h"
#include "json/reader.h"
#include "json/unit_names.h"
#include "json/wording.h"

namespace treeline::json {
namespace {

using Json = nlohmann::ordered_json;

/// Bounds of a plain ratio carry no dimension; those of a quantity are written in the largest unit that keeps the number
/// above 1.
std::string in_readable_unit(double base_units, std::string_view dimension) {
    std::string text;
    for (const std::string& name : units_of(dimension)) {
        const double value = base_units / find_unit(name)->in_base_units;
        const bool binary = name.find('i') != std::string::npos;
        if (text.empty() || (value >= 0.999 && !binary)) {
            text = text::number_text(value) + " " + name;
        }
    }
    return text;
}

}  // namespace

std::string Reader::source_text() { return text("source"); }

std::string Reader::kind_text() {
    return choice("kind", {"datasheet", "measured", "published", "fitted", "assumed", "derived"});
}

void Reader::note_provenance(std::string text, std::string source, std::string kind) {
    if (!silent_) {
        document_->provenance.push_back({place(), std::move(text), std::move(source), std::move(kind)});
    }
}

std::optional<Reader> Reader::quantity_object(std::string_view key, std::string_view example) {
    const Json* node = require(key);
    if (node == nullptr) {
        return std::nullopt;
    }
    if (!node->is_object()) {
        problem(key, "must be an object like " + std::string(example) + ", not " + shown(*node));
        return std::nullopt;
    }
    return child(key, node);
}

double Reader::unit_in_base_units(std::string_view dimension) {
    const std::string name = text("unit");
    if (name.empty()) {
        return 0.0;
    }
    const UnitName* unit = find_unit(name);
    if (unit != nullptr && unit->dimension == dimension) {
        return unit->in_base_units;
    }
    const std::vector<std::string> accepted = units_of(dimension);
    std::string sentence = unit != nullptr ? "\"" + name + "\" is a unit of " + std::string(unit->dimension)
                                           : "\"" + shown_key(name) + "\" is not a known unit";
    sentence += ", but this is a " + std::string(dimension) + " in " + text::listed(accepted, "or");
    problem("unit", sentence + (unit != nullptr ? "" : text::did_you_mean(name, accepted)));
    return 0.0;
}

double Reader::quantity(std::string_view key, std::string_view dimension, Zero zero, const Further& further) {
    const DimensionLimits& limits = limits_of(dimension);
    const double harmless = limits.low;
    const std::string unit_example = units_of(dimension).back();
    std::optional<Reader> object = quantity_object(
        key, R"({"value": 1, "unit": ")" + unit_example + R"(", "source": "where it comes from", "kind": "datasheet"})");
    if (!object) {
        return harmless;
    }
    const double unit = object->unit_in_base_units(dimension);
    const Json* node = object->require("value");
    std::string source = object->source_text();
    std::string kind = object->kind_text();
    if (further) {
        further(*object);
    }
    object->finish();
    if (node == nullptr) {
        return harmless;
    }
    if (!node->is_number() || !std::isfinite(node->get<double>())) {
        object->problem("value", "must be a number, not " + shown(*node));
        return harmless;
    }
    const double value = node->get<double>();
    if (value < 0.0 || (value == 0.0 && zero == Zero::refused)) {
        object->problem("value",
                        "is " + shown(*node) + ", but must be " + (zero == Zero::allowed ? "zero or more" : "above zero"));
        return harmless;
    }
    if (unit == 0.0) {
        return harmless;
    }
    const std::string with_unit = shown(*node) + " " + object->text("unit");
    const double in_base_units = value * unit;
    if (value != 0.0 && !(in_base_units >= limits.low && in_base_units <= limits.high)) {
        object->problem("value", "is " + with_unit + ", which is impossible: expected between " +
                                     in_readable_unit(limits.low, dimension) + " and " +
                                     in_readable_unit(limits.high, dimension));
        return harmless;
    }
    object->note_provenance(with_unit, std::move(source), std::move(kind));
    return in_base_units;
}

double Reader::ratio(std::string_view key, double low, double high, const Further& further) {
    std::optional<Reader> object = quantity_object(key, R"({"value": 1, "source": "where it comes from", "kind": "measured"})");
    if (!object) {
        return low;
    }
    const Json* node = object->require("value");
    const std::optional<double> value =
        node != nullptr ? object->checked_number("value", *node, low, high) : std::optional<double>();
    std::string source = object->source_text();
    std::string kind = object->kind_text();
    if (further) {
        further(*object);
    }
    object->finish();
    if (value) {
        object->note_provenance(shown(*node), std::move(source), std::move(kind));
    }
    return value.value_or(low);
}

Bytes Reader::bytes(std::string_view key, Zero zero, const Further& further) {
    return Bytes(quantity(key, "size", zero, further));
}

BytesPerSecond Reader::bytes_per_second(std::string_view key, Zero zero) {
    return BytesPerSecond(quantity(key, "bandwidth", zero));
}

FlopsPerSecond Reader::flops_per_second(std::string_view key, Zero zero) {
    return FlopsPerSecond(quantity(key, "compute rate", zero));
}

FlopsPerByte Reader::flops_per_byte(std::string_view key, Zero zero) {
    return FlopsPerByte(quantity(key, "operational intensity", zero));
}

Seconds Reader::seconds(std::string_view key, Zero zero, const Further& further) {
    return Seconds(quantity(key, "time", zero, further));
}

Watts Reader::watts(std::string_view key, Zero zero) { return Watts(quantity(key, "power", zero)); }

JoulesPerByte Reader::joules_per_byte(std::string_view key, Zero zero) {
    return JoulesPerByte(quantity(key, "energy per byte", zero));
}

JoulesPerFlop Reader::joules_per_flop(std::string_view key, Zero zero) {
    return JoulesPerFlop(quantity(key, "energy per FLOP", zero));
}

DollarsPerSecond Reader::dollars_per_second(std::string_view key, Zero zero) {
    return DollarsPerSecond(quantity(key, "price", zero));
}

}  // namespace treeline::json
