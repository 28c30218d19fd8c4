#include "requests/point_file.h"

#include "requests/file_kind.h"
#include "requests/load_matrix.h"

namespace treeline::requests {
namespace {

/// The point in a document: all of it, or the input that a result of `treeline estimate` repeats.
FlagJson point_in(json::Document document) {
    const FlagJson& tree = document.root().raw();
    document.throw_if_problems();
    const bool is_result = tree.value("format", FlagJson()) == "treeline-estimate" && tree.contains("input");
    return is_result ? tree.at("input") : tree;
}

PointSource read_raw(FlagJson raw, const std::string& name, const std::filesystem::path& folder, const Catalogue& catalogue) {
    json::Document document = json::Document::of(raw, name);
    Descriptions descriptions(catalogue, folder);
    return {read_point(document, descriptions), std::move(raw)};
}

}  // namespace

FlagJson point_json(const std::string& file, const FlagTexts& flags) {
    FlagJson point = file.empty() ? FlagJson::object() : point_in(load_question(file));
    refuse_other_kinds(point, file, {FileKind::point});
    rebase_paths(point, std::filesystem::path(file).parent_path().string());
    return with_flags(std::move(point), flags);
}

PointSource read_point(const std::string& file, const FlagTexts& flags, const Catalogue& catalogue) {
    return read_raw(point_json(file, flags), file.empty() ? "flags" : file, {}, catalogue);
}

PointSource read_point_text(std::string_view text, const std::string& name, const std::filesystem::path& folder,
                            const Catalogue& catalogue) {
    FlagJson point = point_in(json::Document::parse(text, name));
    refuse_other_kinds(point, name, {FileKind::point});
    return read_raw(std::move(point), name, folder, catalogue);
}

}  // namespace treeline::requests
