package import Core
import Postgres

/// What a database requires of the programs that write to it.
package struct LogDemand: Hashable, Sendable {
    /// The migration that introduced these requirements.
    static let firstMigration: Int64 = 12

    package let format: LogFormat
    /// The release that raised the format; `nil` if none has.
    package let program: String?
    /// The number of the oldest migration whose programs still work with the schema.
    let migration: Int64

    /// Reads the row of `read_format`, or the same columns starting at `column`.
    init(_ rows: borrowing Rows, _ row: Int, from column: Int = 0) {
        format = LogFormat(Int(rows.int8(row, column)))
        program = rows.optionalText(row, column + 1)
        migration = rows.int8(row, column + 2)
    }

    /// Whether this program works with the schema.
    package var isMet: Bool { migration <= Schema.needed }

    /// Why this program must not write, and which release is needed instead; `nil` if it may write.
    package var impediment: Impediment? {
        if format > .own {
            let wanted = program.map { "deed \($0)" } ?? "the release that raised it"
            return Impediment(
                .outdated,
                "The log has the format \(format.number), but this program knows at most \(LogFormat.own.number), so it "
                    + "writes nothing. Install \(wanted), or a newer release.")
        }
        if !isMet {
            return Impediment(
                .outdated,
                "The schema is for releases that know migration \(migration), but this program knows at most "
                    + "\(Schema.needed), so it writes nothing.", remedy: .installMigratingRelease)
        }
        return nil
    }
}
