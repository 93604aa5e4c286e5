/// What the log may hold: types of events, members of payloads, and the rules by which they count.
///
/// The database says which number counts. A program reads and writes every number up to its own, decides by the
/// database's, and writes nothing under a higher one.
package struct LogFormat: Hashable, Comparable, Sendable {
    package let number: Int

    package init(_ number: Int) {
        self.number = number
    }

    package static func < (one: LogFormat, other: LogFormat) -> Bool { one.number < other.number }

    package static let first = LogFormat(1)
    /// A store's whole answer in a transaction, without which the transactions do not follow. Notes
    /// came with it, and the reasons why a key was revoked and a catalog replaced.
    package static let readings = LogFormat(2)

    /// The newest one that this program knows.
    package static let own = readings
}
