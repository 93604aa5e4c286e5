package import Core
import Postgres
import SQL

/// When keys were last used, stored outside the log.
extension Ledger {
    package func note(_ uses: [KeyUse]) throws(Fault) {
        try sendBeside(
            Statement.noteKeyUses(
                .texts(uses.map(\.project.text)), .texts(uses.map(\.key.text)),
                .int8s(uses.map(\.at.milliseconds))))
    }

    package func uses(ofKeysOf project: ProjectID) throws(Fault) -> [KeyUse] {
        try readable(
            Statement.listKeyUses(.text(project.text)), over: watching,
            of: { rows, row in UnreadSubject(project.text, "", "", row: "key_uses") }
        ) { rows, row throws(LedgerError) -> KeyUse in
            KeyUse(
                project: project, key: try rows.identifier(row, 0),
                at: Instant(milliseconds: rows.int8(row, 1)))
        }
    }
}
