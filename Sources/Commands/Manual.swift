extension Program {
    /// The manual page for section 1 in roff, generated from the commands' descriptions.
    var manual: String {
        """
        .TH \(roff(name.uppercased())) 1 "" "\(roff(version))"
        .SH NAME
        \(roff(name)) \\- \(roff(purpose))
        .SH SYNOPSIS
        .B \(roff(name))
        .I command
        .RI [ flags ]
        .SH COMMANDS
        \(commands.map(section).joined(separator: "\n"))
        .SH NOTES
        \(notes.split(separator: "\n").map { ".PP\n\(roff(String($0)))" }.joined(separator: "\n"))
        .SH EXIT STATUS
        0 done, 1 refused, 2 wrong usage, 3 fault.
        """
    }

    private func section(of spec: CommandSpec) -> String {
        let items = rows(of: spec).map { ".TP\n.B \(roff($0.name))\n\(roff($0.help))" }
        return """
            .SS "\(roff(synopsis(of: spec)))"
            \(roff(spec.summary))
            \(items.joined(separator: "\n"))
            .PP
            Example:
            .B \(roff(spec.example))
            """
    }
}

/// Escapes text for roff, so that it contains no requests and its dashes stay dashes.
private func roff(_ text: String) -> String {
    let escaped = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        .replacing("\"", with: "\\(dq")
    return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
}
