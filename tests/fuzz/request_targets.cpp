#include <array>

#include "json/reader.h"
#include "requests/decode/decode_reader.h"
#include "requests/descriptions.h"
#include "requests/point_reader.h"
#include "requests/recommend/workload_file.h"
#include "requests/sweep/sweep_reader.h"
#include "targets.h"

namespace treeline::fuzz {
namespace {

void read_workload(std::string_view bytes) {
    static_cast<void>(requests::read_workload_text(bytes, "workload", {}, catalogue()));
}

void read_sweep(std::string_view bytes) {
    json::Document document = json::Document::parse(bytes, "sweep");
    requests::Descriptions descriptions(catalogue(), {});
    static_cast<void>(requests::read_sweep(document, descriptions));
}

void read_point(std::string_view bytes) {
    json::Document document = json::Document::parse(bytes, "point");
    requests::Descriptions descriptions(catalogue(), {});
    static_cast<void>(requests::read_point(document, descriptions));
}

void read_decode(std::string_view bytes) {
    json::Document document = json::Document::parse(bytes, "decoder");
    requests::Descriptions descriptions(catalogue(), {});
    static_cast<void>(requests::read_decode(document, descriptions, {}));
}

}  // namespace

std::span<const Target> request_targets() {
    static constexpr std::array<Target, 4> all = {
        {{"workload", read_workload}, {"sweep", read_sweep}, {"point", read_point}, {"decode", read_decode}}};
    return all;
}

}  // namespace treeline::fuzz
