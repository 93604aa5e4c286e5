package import Core
import Postgres
import SQL

// The second factors of people who use the console, stored outside the log.
extension Ledger {
    package func secondFactors(of person: PersonID?) throws(Fault) -> [SealedFactor] {
        try list(Statement.findSecondFactors(.text(person?.text))) {
            rows, row throws(LedgerError) in
            SealedFactor(
                person: try rows.identifier(row, 0),
                secret: SealedSecret(bytes: rows.bytes(row, 1), keyName: rows.bytes(row, 2)),
                step: rows.int8(row, 3), emergencyCodes: Int(rows.int8(row, 4)))
        }
    }

    package func put(
        _ factor: SealedFactor, emergencyCodes: [[UInt8]], in session: [UInt8]
    ) throws(Fault) -> Bool {
        try changed(
            Statement.putSecondFactor(
                .text(factor.person.text), .bytea(factor.secret.bytes),
                .bytea(factor.secret.keyName), .int8(factor.step), .byteas(emergencyCodes),
                .bytea(session)))
    }

    package func putEmergencyCodes(
        _ digests: [[UInt8]], of person: PersonID
    ) throws(Fault) {
        try change(Statement.putEmergencyCodes(.text(person.text), .byteas(digests)))
    }

    /// Returns false if the second factor has changed in the meantime.
    package func reseal(_ factor: SealedFactor, as secret: SealedSecret) throws(Fault) -> Bool {
        try changed(
            Statement.resealSecondFactor(
                .text(factor.person.text), .bytea(factor.secret.bytes), .bytea(secret.bytes),
                .bytea(secret.keyName)))
    }

    package func forgetSecondFactor(
        of person: PersonID, in session: [UInt8]?
    ) throws(Fault) -> Bool {
        try changed(
            Statement.forgetSecondFactor(.text(person.text), .bytea(session)),
            isRepeatable: session == nil)
    }

    package func useCode(of step: Int64, _ factor: SealedFactor) throws(Fault) -> Bool {
        try changed(
            Statement.useCode(
                .text(factor.person.text), .bytea(factor.secret.bytes), .int8(step)),
            isRepeatable: false)
    }

    package func useEmergencyCode(
        _ digest: [UInt8], of person: PersonID
    ) throws(Fault) -> Bool {
        try changed(
            Statement.useEmergencyCode(.text(person.text), .bytea(digest)), isRepeatable: false)
    }
}
