package import Core
import Postgres
import SQL

// The people who use the console, stored outside the log.
extension Ledger {
    package func add(
        _ person: PersonID, _ email: EmailAddress, at now: Instant
    ) throws(Fault) -> Bool {
        try changed(
            Statement.addPerson(
                .text(person.text), .text(email.text), .int8(now.milliseconds)))
    }

    package func people(_ email: EmailAddress?) throws(Fault) -> [Person] {
        var people: [Person] = []
        let rows = try list(Statement.listPeople(.text(email?.text))) {
            rows, row throws(LedgerError) in
            (person: try Person(rows, row), role: try rows.personRole(row, 4))
        }
        for (person, role) in rows {
            if people.last?.id != person.id { people.append(person) }
            if let role { people[people.count - 1].roles.append(role) }
        }
        return people
    }

    package func put(
        _ role: Role?, of person: PersonID, in project: ProjectID
    ) throws(Fault) {
        if let role {
            try change(
                Statement.putPersonRole(
                    .text(person.text), .text(project.text), .text(role.rawValue)))
        } else {
            try change(Statement.forgetPersonRole(.text(person.text), .text(project.text)))
        }
    }

    package func remove(_ person: PersonID) throws(Fault) {
        try change([
            Statement.removePerson(.text(person.text)), Statement.forgetPerson(.text(person.text)),
        ])
    }

    package func putLink(
        _ digest: [UInt8], of person: PersonID, until end: Instant
    ) throws(Fault) {
        try change(
            Statement.putPersonLink(.text(person.text), .bytea(digest), .int8(end.milliseconds)))
    }

    /// Sends a statement that returns nothing.
    func change(_ call: Call) throws(Fault) { _ = try changed(call) }

    /// Sends statements that return nothing, in one transaction. Each of them sees everything that was committed before
    /// it began, even if it began late because an earlier one waited for a lock.
    func change(_ calls: [Call]) throws(Fault) {
        try requireWritable()
        try faulting { () throws(LedgerError) in
            try pool.settled { connection throws(LedgerError) in
                try connection.execute([Statement.begin()] + calls + [Statement.commit()])
            }
        }
    }

    /// Sends a statement that returns a row if it made a change. A second attempt must return the row, too, unless the
    /// statement is said not to be repeatable. Then a lost reply becomes a fault, because its effect is unknown.
    func changed(_ call: Call, isRepeatable: Bool = true) throws(Fault) -> Bool {
        try requireWritable()
        return try !list(call, isRepeatable: isRepeatable) { _, _ in () }.isEmpty
    }
}

// Sign-in data: passwords, links and attempts.
extension Ledger {
    package func password(
        of email: EmailAddress
    ) throws(Fault) -> KnownPassword? {
        try list(Statement.findPassword(.text(email.text))) { rows, row throws(LedgerError) in
            KnownPassword(
                person: try rows.identifier(row, 0),
                kept: KeptPassword(
                    salt: rows.bytes(row, 1), stretched: rows.bytes(row, 2),
                    cost: Int(rows.int2(row, 3))),
                hasSecondFactor: rows.bool(row, 4))
        }.first
    }

    package func email(
        behindLink digest: [UInt8], at now: Instant
    ) throws(Fault) -> EmailAddress? {
        let call = Statement.findPersonLink(.bytea(digest), .int8(now.milliseconds))
        return try list(call) { rows, row in EmailAddress(rows.text(row, 1)) }
            .compactMap(\.self).first
    }

    package func keep(
        _ password: KeptPassword, byLink digest: [UInt8], at now: Instant
    ) throws(Fault) -> Bool {
        try changed(
            Statement.usePersonLink(
                .bytea(digest), .int8(now.milliseconds), .bytea(password.salt),
                .bytea(password.stretched), .int2(Int16(clamping: password.cost))))
    }

    package func countTries(
        of tried: Tried, at now: Instant, since start: Instant
    ) throws(Fault) -> Tries {
        try requireWritable()
        let call = Statement.countTries(
            .bytea(tried.digest), .int8(now.milliseconds), .int8(start.milliseconds),
            .bytea(tried.name))
        let tries = try list(call) { rows, row in
            Tries(count: rows.int8(row, 0), since: Instant(milliseconds: rows.int8(row, 1)))
        }
        return tries.first ?? Tries(count: 0, since: now)
    }

    package func forgetTries(of digest: [UInt8]) throws(Fault) {
        try change(Statement.forgetTries(.bytea(digest)))
    }
}

// Sessions of signed-in people, and begun sign-ins.
extension Ledger {
    package func begin(
        _ begun: BegunSignIn, at now: Instant, since bound: Instant
    ) throws(Fault) {
        try change(
            Statement.beginSignIn(
                .bytea(begun.digest), .text(begun.person.text), .int8(now.milliseconds),
                .int8(bound.milliseconds), .bytea(begun.stretched)))
    }

    package func begun(
        _ digest: [UInt8], since bound: Instant
    ) throws(Fault) -> BegunSignIn? {
        let call = Statement.findBegunSignIn(.bytea(digest), .int8(bound.milliseconds))
        return try list(call) { rows, row throws(LedgerError) in
            BegunSignIn(
                digest: digest, person: try rows.identifier(row, 0),
                email: try rows.emailAddress(row, 1), stretched: rows.bytes(row, 2))
        }.first
    }

    package func open(
        _ session: OpenedSession, _ bounds: SessionBounds
    ) throws(Fault) -> Bool {
        try changed(
            Statement.openSession(
                .bytea(session.digest), .text(session.person.text),
                .int8(session.at.milliseconds), .int8(bounds.started.milliseconds),
                .int8(bounds.seen.milliseconds), .bytea(session.stretched),
                .bytea(session.begun)))
    }

    package func session(
        _ digest: [UInt8], at now: Instant, _ bounds: SessionBounds
    ) throws(Fault) -> SignedIn? {
        let call = Statement.findSession(
            .bytea(digest), .int8(now.milliseconds), .int8(bounds.started.milliseconds),
            .int8(bounds.seen.milliseconds))
        let rows = try list(call) { rows, row throws(LedgerError) in
            (
                person: try rows.identifier(row, 0) as PersonID,
                email: try rows.emailAddress(row, 1), role: try rows.personRole(row, 2),
                hasSecondFactor: rows.bool(row, 4)
            )
        }
        guard let first = rows.first else { return nil }
        return SignedIn(
            person: first.person, email: first.email, hasSecondFactor: first.hasSecondFactor,
            roles: rows.compactMap(\.role))
    }

    package func endSession(_ digest: [UInt8]) throws(Fault) {
        try change(Statement.endSessions(.bytea(digest), .text(nil)))
    }

    package func endSessions(of person: PersonID) throws(Fault) {
        try change(Statement.endSessions(.bytea(nil), .text(person.text)))
    }
}

extension Person {
    /// Reads a row of `list_people`, except for the role.
    fileprivate init(_ rows: borrowing Rows, _ row: Int) throws(LedgerError) {
        self.init(
            id: try rows.identifier(row, 0), email: try rows.emailAddress(row, 1),
            createdAt: Instant(milliseconds: rows.int8(row, 2)), hasPassword: rows.bool(row, 3),
            hasSecondFactor: rows.bool(row, 7),
            lastSeen: rows.optionalInt8(row, 6).map { Instant(milliseconds: $0) }, roles: [])
    }
}

extension Rows {
    fileprivate func emailAddress(
        _ row: Int, _ column: Int
    ) throws(LedgerError) -> EmailAddress {
        guard let email = EmailAddress(text(row, column)) else {
            throw .unreadable("an e-mail address of a person")
        }
        return email
    }

    /// Returns a project and a role from adjacent columns; `nil` if there is no role.
    fileprivate func personRole(
        _ row: Int, _ column: Int
    ) throws(LedgerError) -> PersonRole? {
        guard !isNull(row, column) else { return nil }
        guard let role = Role(rawValue: text(row, column + 1)) else {
            throw .unreadable("a role of a person")
        }
        return PersonRole(project: try identifier(row, column), role: role)
    }
}
