/// A shell for which completion is supported.
enum Shell: String, CaseIterable {
    case bash, zsh, fish
}

extension Program {
    /// Returns a script that completes this program's commands and flags.
    func completion(for shell: Shell) -> String {
        switch shell {
        case .bash: bashFunction
        // zsh can read bash's format.
        case .zsh:
            "#compdef \(name)\nautoload -U +X bashcompinit && bashcompinit\n" + bashFunction
        case .fish: commands.map(fishLines).joined(separator: "\n")
        }
    }

    /// A shell function that suggests the next word of a command, or flags if the command is complete.
    private var bashFunction: String {
        let cases = commands.map { spec in
            "        '\(spec.name)') flags='\(flags(of: spec))' ;;"
        }
        let function = "_" + name.replacing("-", with: "_")
        return """
            \(function)() {
                local commands='\(commands.map(\.name).joined(separator: "\n"))'
                local words=() word flags='' name next
                for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
                    case $word in -*) break ;; *) words+=("$word") ;; esac
                done
                name="${words[*]}"
                while [ -n "$name" ] && ! grep -Fxq -- "$name" <<<"$commands"; do
                    case $name in *' '*) name=${name% *} ;; *) break ;; esac
                done
                case $name in
            \(cases.joined(separator: "\n"))
                esac
                next=$(awk -v have="${words[*]}" '
                    have == "" { print $1; next }
                    index($0, have " ") == 1 { print $(split(have, words, " ") + 1) }' <<<"$commands" | sort -u)
                COMPREPLY=($(compgen -W "$next $flags" -- "${COMP_WORDS[COMP_CWORD]}"))
            }
            complete -o default -F \(function) \(name)
            """
    }

    private func flags(of spec: CommandSpec) -> String {
        (spec.options + [.help]).map { "--\($0.name)" }.joined(separator: " ")
    }

    private func fishLines(_ spec: CommandSpec) -> String {
        let words = spec.path.indices.map { place in
            let isGiven = Program.fishCondition(spec.path[..<place])
            return "complete -c \(name) -f -n '\(isGiven)' -a \(spec.path[place])"
        }
        let isWhole = Program.fishCondition(spec.path[...])
        let flags = (spec.options + [.help]).map { option in
            "complete -c \(name) -n '\(isWhole)' -l \(option.name)"
                + (option.valueName == nil ? "" : " -r")
                + " -d '\(option.help.replacing("'", with: ""))'"
        }
        return (words + flags).joined(separator: "\n")
    }

    private static func fishCondition(_ words: ArraySlice<String>) -> String {
        words.isEmpty
            ? "__fish_use_subcommand"
            : words.map { "__fish_seen_subcommand_from \($0)" }.joined(separator: "; and ")
    }
}
