// treeline study claims: a paper's claims on an accelerator.
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "reports/fpga/fpga_claims_output.h"
#include "requests/file_kind.h"
#include "requests/fpga/fpga_claims_reader.h"

namespace treeline::cli {
namespace {

struct ClaimsFlags {
    CommonFlags common;
    std::string file;
};

void claims_of_file(const ClaimsFlags& flags) {
    const Format format = flags.common.chosen_format();
    const requests::Catalogue catalogue = flags.common.find();
    json::Document document = json::Document::load(flags.file);
    requests::refuse_other_kinds(document.root().raw(), flags.file, {requests::FileKind::claims});
    requests::Descriptions descriptions(catalogue, std::filesystem::path(flags.file).parent_path());
    const sweeps::FpgaClaimsInput input = requests::read_fpga_claims(document, descriptions, catalogue.hardware);
    const std::vector<sweeps::FpgaClaim> claims = sweeps::fpga_claims(input);
    flags.common.deliver(format == Format::json  ? reports::claims_json(input, claims).dump(2) + "\n"
                         : format == Format::csv ? reports::claims_csv(claims)
                                                 : reports::claims_table(input, claims));
}

}  // namespace

Run add_fpga_claims(CLI::App& app) {
    auto flags = std::make_shared<ClaimsFlags>();
    app.add_option("FILE", flags->file, "Run and experiments (JSON)")->required();
    add_common_flags(app, flags->common);
    app.footer("Example:\n  treeline study claims examples/fpga/specmamba-claims.json");
    return [flags] { claims_of_file(*flags); };
}

}  // namespace treeline::cli
