/// The text of one statement. It comes from a file of the binary and never from values: those
/// travel apart, as binds.
package struct Statement: Sendable {
    /// The name under which a connection prepares it once.
    package let name: String
    package let text: String

    package init(name: StaticString, embedded text: [UInt8]) {
        self.name = "\(name)"
        self.text = String(decoding: text, as: UTF8.self)
    }

    package init(name: StaticString, text: StaticString) {
        self.name = "\(name)"
        self.text = "\(text)"
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
