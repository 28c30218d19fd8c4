#include "requests/loop/lint_request.h"

#include "requests/keys/loop_keys.h"

namespace treeline::requests {

LintRequest read_lint(json::Document& document) {
    json::Reader root = document.root();
    LintRequest request{read(root, lint_keys::text), read(root, lint_keys::engine)};
    root.finish();
    document.throw_if_problems();
    return request;
}

}  // namespace treeline::requests
