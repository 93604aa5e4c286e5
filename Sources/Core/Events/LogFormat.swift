/// What the log may contain: event types, payload members, and the rules for applying them.
///
/// The database determines the format in effect. A program can read and write every format up to
/// its own newest one. It follows the format in effect, and writes nothing that needs a higher one.
package struct LogFormat: Hashable, Comparable, Sendable {
    package let number: Int

    package init(_ number: Int) {
        self.number = number
    }

    package static func < (one: LogFormat, other: LogFormat) -> Bool { one.number < other.number }

    package static let first = LogFormat(1)
    /// Adds to each transaction the store's complete answer, from which the transactions are derived. Also adds the
    /// types and members that name this format.
    package static let readings = LogFormat(2)

    /// The newest format that this program knows.
    package static let own = readings
}
