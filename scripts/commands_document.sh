#!/usr/bin/env bash
# docs/commands.md, made of the program's own help: scripts/commands_document.sh build/treeline >docs/commands.md
set -euo pipefail

[ $# -eq 1 ] && [ -x "$1" ] || { echo "Usage: scripts/commands_document.sh PATH_OF_TREELINE" >&2; exit 2; }
treeline=$1

head_of_page() {
    cat <<'TEXT'
<!-- Written by scripts/commands_document.sh from the program's --help; the test program/commands_document fails when it is stale. -->
# Commands

`treeline COMMAND --help` prints the same. Flags and files mean the same, too: [inputs.md](inputs.md) explains every key of a file, and
`treeline recommend --print-input` turns flags into one.

TEXT
}

common_options() {
    cat <<'TEXT'

Exit codes: 0 for success; 2 for bad input (flags, files, values), with one sentence per problem on standard error; 1 for findings of `lint`
and for what better input would not have prevented, such as a full disk.

Further reading: [engines.md](engines.md) on `lint` and the flags that `recommend` prints, [decoder.md](decoder.md) on what `decode` runs,
[the FPGA format](../hardware/fpga/README.md), [trust.md](trust.md) for what `validate` finds.

## Common options

Most commands take these; the tables below leave them out and name them at the end.

TEXT
}

# Names of the sub-commands that a help text lists, with their summaries: "name<TAB>summary".
subcommands() {
    awk '/^([A-Z][a-z ]*|With [a-z -]*):$/ { inside = !/^(Positionals|Options|Usage|With .*|Examples?):/; next } /^$/ { inside = 0 } inside { name = $1; sub(/^ *[^ ]+ +/, ""); print name "\t" $0 }'
}

# The help of one command as Markdown. `mode` is "section" or "common": the rows of the common options alone.
markdown() {
    awk -v mode="$1" -v name="${2:-}" -v level="${3:-}" '
        # Groups of options, or of commands; but not the examples.
        function is_heading(line) { return line ~ /^([A-Z][a-z ]*|With [a-z -]*):$/ && line !~ /^Examples?:$/ }
        function sentence(text) { return toupper(substr(text, 1, 1)) substr(text, 2) }
        function cell(text) { gsub(/\|/, "\\|", text); return text }
        # "--top N=10 ..." and its meaning as a row of the table.
        function row(option, meaning,    repeatable, required, fallback, at) {
            sub(/^-h,/, "", option)
            required = sub(/ REQUIRED/, "", option)
            repeatable = sub(/ \.\.\.$/, "", option)
            if (option !~ /^-/) { sub(/ TEXT$/, "", option) }
            at = match(option, /=[^=]*$/)
            if (option ~ /^-/ && at > 0 && option !~ /KEY=/) { fallback = substr(option, at + 1); option = substr(option, 1, at - 1) }
            if (required) { meaning = meaning " (required)" }
            if (repeatable && meaning !~ /repeat/) { meaning = meaning " (repeatable)" }
            if (fallback != "") { meaning = meaning " (default `" fallback "`)" }
            return "| `" cell(option) "` | " cell(meaning) " |"
        }
        function is_common(option) {
            return option ~ /^(--format FORMAT=table|--output OUTPUT=-|--catalogue DIR)$/ || option ~ /--help$/
        }
        # An entry is complete: a row of its own, or the name of a common option.
        function entry(option, meaning,    flag) {
            flag = option
            sub(/[ =].*/, "", flag)
            if (mode == "common") {
                if (is_common(option) || flag == "--version") { rows = rows row(option, meaning) "\n" }
            } else if (is_common(option) && (flag != "--format" || meaning == "table, json or csv")) {
                if (flag !~ /help/) { common = common (common == "" ? "" : ", ") "`" flag "`" }
            } else {
                rows = rows row(option, meaning) "\n"
            }
        }
        function flush_entry() { if (pending != "") { entry(pending, meaning); pending = "" } }
        # What stands below the options: paragraphs, and indented lines as code.
        function tail(text) {
            if (text ~ /--help` explains/) { return }
            if (text == "") { close_code(); close_paragraph(); return }
            if (text ~ /^  /) {
                close_paragraph()
                if (!code) { below = below "\n```" (text ~ /^  (treeline|echo) / ? "sh" : "") "\n"; code = 1 }
                below = below substr(text, 3) "\n"
                return
            }
            close_code()
            paragraph = paragraph (paragraph == "" ? "" : " ") text
        }
        # In lines of at most 140 characters, as the other pages have.
        function close_paragraph(    words, count, i, line) {
            if (paragraph == "") { return }
            count = split(paragraph, words, " ")
            below = below "\n"
            for (i = 1; i <= count; ++i) {
                if (line != "" && length(line) + 1 + length(words[i]) > 140) { below = below line "\n"; line = "" }
                line = line (line == "" ? "" : " ") words[i]
            }
            below = below line "\n"
            paragraph = ""
        }
        function close_code() { if (code) { below = below "```\n"; code = 0 } }

        NR == 1 { summary = $0; next }
        /^Usage: / && usage == "" { usage = substr($0, 8); part = "usage"; next }
        part == "usage" && is_heading($0) { part = "options"; heading = $0; next }
        part == "options" && is_heading($0) { flush_entry(); heading = $0; next }
        part == "options" && heading !~ /^(Positionals|Options|With )/ && /^  / { next }
        part == "options" && /^                              / { sub(/^ +/, "", $0); pending = line; meaning = $0; next }
        part == "options" && /^  [^ ]/ {
            flush_entry()
            line = $0
            sub(/^ +/, "", line)
            sub(/ +$/, "", line)
            if (substr($0, 30, 1) == " " && length($0) > 30) {
                pending = substr($0, 3, 28)
                sub(/ +$/, "", pending)
                meaning = substr($0, 31)
            } else {
                pending = line
                meaning = ""
            }
            next
        }
        part == "options" && /^$/ { flush_entry(); next }
        part == "options" { flush_entry(); part = "below" }
        part == "below" { tail($0) }
        END {
            flush_entry()
            tail("")
            if (mode == "common") { printf "| option | meaning |\n|---|---|\n%s", rows; exit }
            printf "\n%s treeline %s\n\n%s.\n\n```sh\n%s\n```\n", level, name, sentence(summary), usage
            if (rows != "") { printf "\n| option | meaning |\n|---|---|\n%s", rows }
            if (common != "") { printf "\nAlso: %s.\n", common }
            printf "%s", below
        }'
}

table_of_commands() {
    echo '| command | what it does |'
    echo '|---|---|'
    "$treeline" --help | subcommands | while IFS=$'\t' read -r command summary; do
        echo "| [\`$command\`](#treeline-$command) | $summary |"
    done
}

# The section of a command without the rows that `recommend` has as well.
workload_section() {
    local command=$1 shared
    shared=$("$treeline" recommend --help | markdown section recommend '##' | grep '^| `')
    "$treeline" "$command" --help | markdown section "$command" '##' | grep -vxF -- "$shared" |
        sed 's/^| option | meaning |$/It takes the workload and options of [`recommend`](#treeline-recommend), and:\n\n&/'
}

sections() {
    local command verb
    "$treeline" --help | subcommands | while IFS=$'\t' read -r command _; do
        if [ "$command" = report ] || [ "$command" = explore ]; then
            workload_section "$command"
            continue
        fi
        "$treeline" "$command" --help | markdown section "$command" '##'
        "$treeline" "$command" --help | subcommands | while IFS=$'\t' read -r verb _; do
            "$treeline" "$command" "$verb" --help | markdown section "$command $verb" '###'
        done
    done
}

head_of_page
table_of_commands
common_options
"$treeline" models --help | markdown common
sections
