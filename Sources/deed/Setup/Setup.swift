import Assembly
import Commands
import Core
import Foundation
import Glibc
import JSON
import Ledger
import PrivatePostgres
import Service

/// Sets up an installation according to the answers. Each step checks whether it is already done, so an
/// interrupted set-up continues where it stopped.
struct Setup: Sendable {
    static let keyName = "made by deed setup"

    let answers: SetupAnswers
    let place: SetupPlace

    init(_ answers: SetupAnswers, _ place: SetupPlace) {
        self.answers = answers
        self.place = place
    }

    /// Determines the steps without changing anything.
    func plan() throws(CommandEnd) -> [SetupStep] {
        let found = try FoundDatabase(self)
        var steps = [databaseStep(found), settingsStep(), projectStep(found)]
        if let folder = answers.keysFolder {
            // No key for support yet: it is created later, once support staff have limits.
            for role in [Role.reader, .backend, .admin] {
                steps.append(try keyStep(role, in: folder, found))
            }
        }
        if let service = SetupService(place) {
            steps.append(service.step(isChanged: steps[1].work != nil))
        }
        return steps
    }

    /// Performs the remaining steps. If a step fails, the error also reports what was done before.
    func perform(_ plan: [SetupStep], isTelling: Bool) throws(CommandEnd) {
        if !plan.hasWork { return }
        var done: [String] = []
        do throws(CommandEnd) {
            // Keeps the database open until the last step. Otherwise, a private database would
            // start and stop at each step.
            let database = try invocation.database(mayCreate: true)
            defer { database.leave() }
            for step in plan {
                guard let work = step.work else { continue }
                try work()
                done.append(step.name)
                if isTelling { printText("done: \(step.name)") }
            }
        } catch {
            let before =
                done.isEmpty
                ? "No step was completed" : "Completed: \(done.joined(separator: ", "))"
            let more =
                "\(before). Correct the cause and run deed setup again; it continues from there."
            switch error {
            case .refused(let code, let sentence):
                throw .refused(code: code, sentence: sentence.followed(by: more))
            case .usage(let sentence), .fault(let sentence):
                throw .fault(sentence.followed(by: more))
            }
        }
    }

    /// An invocation of the program `deed` with the answers as settings.
    var invocation: Invocation {
        let url = answers.databaseURL.map { ["--database-url", $0] } ?? []
        return Invocation(
            setupCommand,
            ["--data-dir", place.dataFolder, "--project", answers.project.text] + url,
            variables: [:])
    }
}

extension Setup {
    private func databaseStep(_ found: FoundDatabase) -> SetupStep {
        let database =
            answers.databaseURL.map { "the PostgreSQL at \($0.withoutPasswords)" }
            ?? "a private PostgreSQL in \(place.dataFolder)"
        func migrate() throws(CommandEnd) {
            let database = try invocation.database()
            defer { database.leave() }
            var schema = Schema(database.connection(role: nil))
            try attempt { () throws(LedgerError) in
                try schema.migrate(by: Build.version, now: systemClock()) { _ in }
                try schema.narrow()
                if database.isPrivate { try schema.close(to: nil) }
            }
        }
        switch found.migration {
        case Schema.needed?:
            return .isThere("database", "\(database), with the schema of this release")
        case nil:
            return SetupStep(name: "database", text: "make \(database)", work: migrate)
        case let number?:
            let text =
                "bring the schema in \(database) from migration \(number) to \(Schema.needed)"
            return SetupStep(name: "database", text: text, work: migrate)
        }
    }

    private func settingsStep() -> SetupStep {
        var file = place.settings
        let usualKeys = answers.keysFolder == place.usualKeys
        let variables: [(name: String, value: String?)] = [
            ("DEED_DATABASE_URL", answers.databaseURL),
            ("DEED_DATA_DIR", place.dataFolder),
            ("DEED_LISTEN", answers.listen),
            ("DEED_PROJECT", answers.project.text == "default" ? nil : answers.project.text),
            ("DEED_KEYS", usualKeys ? nil : answers.keysFolder ?? "none"),
            ("DEED_RECONCILE_AT", answers.nightly),
        ]
        let changes = variables.filter { place.settings[$0.name] != $0.value }.map { name, value in
            value.map { "\(name)=\($0.withoutPasswords)" } ?? "no \(name)"
        }
        file.set(variables)
        if file.isUnchanged { return .isThere("settings", "\(file.path), as answered") }
        let said = changes.isEmpty ? "" : ": \(changes.joined(separator: ", "))"
        let (path, text, folder) = (file.path, file.newText, file.folder)
        return SetupStep(name: "settings", text: "write \(path)\(said)") { () throws(CommandEnd) in
            let held = try HeldFolder(making: folder)
            try held.replace(URL(fileURLWithPath: path).lastPathComponent, with: text)
        }
    }

    private func projectStep(_ found: FoundDatabase) -> SetupStep {
        let project = answers.project
        if found.project != nil { return .isThere("project", project.text) }
        // The first project in a new database cannot take an app from another project.
        let isFirst = found.hasNoProject
        let more = isFirst ? ", the first one, whose admin keys may add any app" : ""
        let invocation = invocation
        return SetupStep(name: "project", text: "make \(project)\(more)") {
            () throws(CommandEnd) in
            let sender = try invocation.sender()
            try invocation.withUseCases { useCases throws(CommandEnd) in
                do throws(CommandError) {
                    try useCases.ledger.perform(useCases.projects.creating(project, by: sender))
                } catch {
                    if error != .refused(.projectExists(project)) { throw CommandEnd(error) }
                }
                if isFirst {
                    _ = try useCases.fulfil(useCases.apps.allowing(.any, in: project, by: sender))
                }
            }
        }
    }

    private func keyStep(
        _ role: Role, in folder: String, _ found: FoundDatabase
    ) throws(CommandEnd) -> SetupStep {
        let file = KeyFile(folder: folder, role: role)
        if let text = try file.text(), !text.isEmpty {
            if let key = found.key(text), key.revokedAt == nil {
                return .isThere("key_\(role.rawValue)", file.path)
            }
            throw .refused(
                code: "key_unknown",
                sentence: "\(file.path) holds a key that does not open the project "
                    + "\(answers.project); move the file away, or name another folder with --keys.")
        }
        let invocation = invocation
        return SetupStep(
            name: "key_\(role.rawValue)", text: "create one in \(file.path)"
        ) { () throws(CommandEnd) in try file.make(invocation) }
    }
}
