import API

extension Act.Field {
    /// Returns the value as shown in the form.
    func said(_ value: String?) -> String {
        guard case .choice(let choices) = kind else { return value ?? "" }
        return choices.first { $0.value == value }?.label ?? value ?? ""
    }

    /// Returns the field with its label and a value. `subject` distinguishes fields with the same name.
    func markup(_ value: String?, about subject: String? = nil) -> Markup {
        let id = name + (subject.map { "-\(percentEncoded($0))" } ?? "")
        let hintID = "\(id)-hint"
        let required: Markup = isRequired ? " required" : ""
        let described: Markup = hint.isEmpty ? "" : " aria-describedby=\"\(value: hintID)\""
        let hinted: Markup =
            hint.isEmpty ? "" : "<br><small id=\"\(value: hintID)\">\(hint)</small>"
        return """
            <p><label for="\(value: id)">\(label)</label>
            \(input(value, id, required, described))\(hinted)</p>
            """
    }

    private func input(_ value: String?, _ id: String, _ required: Markup, _ described: Markup)
        -> Markup
    {
        switch kind {
        case .text:
            return """
                <input id="\(value: id)" name="\(value: name)" maxlength="256" autocomplete="off" value="\(value: value ?? "")"\(required)\(described)>
                """
        case .whole:
            return """
                <input id="\(value: id)" name="\(value: name)" inputmode="numeric" maxlength="20" autocomplete="off" value="\(value: value ?? "")"\(required)\(described)>
                """
        case .choice(let choices):
            let options: [Markup] = choices.map { choice in
                let selected: Markup = choice.value == value ? " selected" : ""
                return """
                    <option value="\(value: choice.value)"\(selected)>\(choice.label)</option>
                    """
            }
            return """
                <select id="\(value: id)" name="\(value: name)"\(required)\(described)>
                \(options)
                </select>
                """
        }
    }
}

extension Act {
    /// Returns a short form with the act's own fields, for use on another page. Submitting it leads to a preview of the
    /// changes.
    func shortForm(
        at place: Place, in stream: NamedStream, about subject: String? = nil,
        _ values: [String: String] = [:]
    ) -> Markup {
        let environment: Markup =
            stream.isSandbox ? .hidden([("environment", stream.environment)]) : .nothing
        let name = title + (subject.map { ": \($0)" } ?? "")
        return """
            <form class="short" method="get" action="\(value: place.text)" aria-label="\(value: name)">
            \(environment)
            \(fields.map { $0.markup(values[$0.name], about: subject) })
            <p><button class="quiet">Show what it changes</button></p>
            </form>
            """
    }

    /// Returns the same act with a list of choices for one field.
    func choosing(_ name: String, from choices: [(value: String, label: String)]) -> Act {
        var act = self
        act.fields = fields.map { field in
            if field.name != name || choices.isEmpty { return field }
            var field = field
            field.hint = ""
            field.kind = .choice(choices)
            return field
        }
        return act
    }
}

extension Markup {
    /// Returns hidden fields for a form.
    static func hidden(_ fields: [(name: String, value: String)]) -> Markup {
        let inputs: [Markup] = fields.map {
            "<input type=\"hidden\" name=\"\(value: $0.name)\" value=\"\(value: $0.value)\">"
        }
        return "\(inputs)"
    }
}
