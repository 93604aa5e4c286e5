internal import CPostgres

/// Several statements, such as a migration, in one text that is embedded in the binary.
package struct Script: Sendable {
    package let text: [UInt8]

    package init(embedded text: [UInt8]) {
        self.text = text
    }
}

extension Connection {
    /// Runs all statements in the script, either in the open transaction or in a separate one.
    package mutating func run(_ script: Script) throws(PostgresError) {
        try leavePipeline()
        let result = (script.text + [0]).withUnsafeBytes { bytes in
            PQexec(pointer, bytes.assumingMemoryBound(to: CChar.self).baseAddress)
        }
        guard let result else { throw broken }
        let rows = Rows(owning: result)
        try enterPipeline()
        switch rows.status {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK: return
        default: throw rows.error
        }
    }
}
