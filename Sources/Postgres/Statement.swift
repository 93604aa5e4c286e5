/// The text of a statement. It is embedded in the binary and never contains values, which are sent separately as binds.
package struct Statement: Sendable {
    /// The name under which each connection prepares the statement once. The name is derived from
    /// the text and therefore unique.
    package let name: String
    private let template: String

    /// Each connection replaces `{schema}` with the name of its schema.
    package init(embedded text: [UInt8]) {
        self.init(template: String(decoding: text, as: UTF8.self))
    }

    package init(_ text: StaticString) { self.init(template: "\(text)") }

    private init(template: String) {
        self.template = template
        let digest = template.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        name = "s" + String(digest, radix: 16)
    }

    /// Replaces the names in braces with words that the program provides.
    package func filled(_ words: [String: String]) -> Statement {
        Statement(
            template: words.reduce(template) { text, word in
                text.replacing("{\(word.key)}", with: word.value)
            })
    }

    package func text(in schema: String) -> String {
        template.replacing("{schema}", with: schema)
    }

    package func callAsFunction(_ binds: Bind...) -> Call { Call(statement: self, binds: binds) }
}

/// A statement with its binds, ready to be sent.
package struct Call: Sendable {
    package let statement: Statement
    package let binds: [Bind]

    package init(statement: Statement, binds: [Bind]) {
        self.statement = statement
        self.binds = binds
    }
}
