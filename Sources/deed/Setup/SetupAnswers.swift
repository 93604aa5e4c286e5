import Assembly
import Commands
import Core
import Glibc
import HTTPServer
import Machine
import PrivatePostgres

/// The answers to the five questions about an installation.
struct SetupAnswers {
    /// The address of the database; `nil` for a private database in the data folder.
    let databaseURL: String?
    let listen: String
    let project: ProjectID
    /// The folder for the keys, one for each role; `nil` if no keys are to be written.
    let keysFolder: String?
    /// The time of the nightly reconciliation, in UTC; `nil` for none.
    let nightly: String?

    /// Takes answers from the flags and asks a person for the others. Without a person, keeps the current settings, and
    /// uses the defaults for missing ones.
    init(_ invocation: Invocation, _ place: SetupPlace, isAsking: Bool) throws(CommandEnd) {
        let settings = place.settings
        func answer<Answer>(
            _ flag: String, _ variable: String, usual: String, _ question: String,
            _ read: (String) throws(CommandEnd) -> Answer
        ) throws(CommandEnd) -> Answer {
            let offered = invocation[flag] ?? settings[variable] ?? usual
            return isAsking && !invocation.isWritten(flag)
                ? try question.answered(offering: offered, read) : try read(offered)
        }
        databaseURL = try answer(
            "database-url", "DEED_DATABASE_URL", usual: "private",
            "1. Which PostgreSQL? The address of your own server, or private for one that Deed starts"
        ) { text throws(CommandEnd) in try SetupAnswers.database(text, place) }
        listen = try answer(
            "listen", "DEED_LISTEN", usual: "127.0.0.1:8080",
            "2. Which address should Deed listen on?"
        ) { text throws(CommandEnd) in try SetupAnswers.listen(text, place) }
        project = try answer("project", "DEED_PROJECT", usual: "default", "3. Which project?") {
            text throws(CommandEnd) in try invocation.id(text, named: "the project's name")
        }
        keysFolder = try answer(
            "keys", "DEED_KEYS", usual: place.usualKeys,
            "4. Which folder should hold a key for each role? A folder, or none", SetupAnswers.keys)
        nightly = try answer(
            "reconcile-at", "DEED_RECONCILE_AT", usual: settings.isSetUp ? "none" : "03:00",
            "5. At what time should every project be reconciled daily, in UTC? A time, or none",
            SetupAnswers.time)
    }
}

extension SetupAnswers {
    private static func database(
        _ text: String, _ place: SetupPlace
    ) throws(CommandEnd) -> String? {
        if text == "private" {
            try checkPresence(place)
            return nil
        }
        let isURL = ["postgresql://", "postgres://"].contains { text.hasPrefix($0) }
        let isLine = text.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 127 }
        if isLine, isURL || text.contains("=") { return text }
        throw .usage(
            "the database must be the address of a PostgreSQL server, as in "
                + "postgresql://deed_server:PASSWORD@127.0.0.1/deed, or private")
    }

    /// Checks that the programs for a private database are installed, and that a user can run them.
    private static func checkPresence(_ place: SetupPlace) throws(CommandEnd) {
        if PrivatePostgres.exists(in: place.dataFolder) { return }
        do throws(PrivatePostgresError) {
            _ = try Programs.find(forCluster: nil)
            if getuid() == 0, ServiceUser.usualOne == nil {
                throw .noUnprivilegedUser(names: ServiceUser.usual)
            }
        } catch {
            throw .refused(code: "postgres_missing", sentence: error.description)
        }
    }

    /// Returns the address to listen on. A new address must be free.
    private static func listen(_ text: String, _ place: SetupPlace) throws(CommandEnd) -> String {
        var server = ServerSettings()
        server.listen = text
        do throws(ServerError) {
            try server.checkAddress()
        } catch {
            throw .usage(error.description)
        }
        if text.hasSuffix(":0") { throw .usage("the server needs a fixed port, as in 8080") }
        let isSetUp = place.settings.isSetUp && place.settings["DEED_LISTEN"] == text
        if isSetUp { return text }
        do throws(ServerError) {
            try server.checkFree()
        } catch {
            // Other faults may disappear before the server starts. If not, the server reports them.
            guard case .addressTaken = error else { return text }
            throw .refused(
                code: "address_taken", sentence: "\(error.description).")
        }
        return text
    }

    private static func keys(_ text: String) throws(CommandEnd) -> String? {
        text == "none" ? nil : try absolutePath(text, named: "the folder of the keys")
    }

    private static func time(_ text: String) throws(CommandEnd) -> String? {
        if text == "none" { return nil }
        var settings = ServiceSettings()
        if settings.reconcile(at: text) { return text }
        throw .usage("the time of the reconciliation must be a time in UTC, as in 03:00, or none")
    }
}

extension String {
    /// Asks until the answer is acceptable, and says what is wrong with any other answer. An empty line accepts
    /// the suggestion.
    fileprivate func answered<Answer>(
        offering offered: String, _ read: (String) throws(CommandEnd) -> Answer
    ) throws(CommandEnd) -> Answer {
        while true {
            let line = try answerLine("\(self) [\(offered.withoutPasswords)]: ")
            do throws(CommandEnd) {
                return try read(line.isEmpty ? offered : line)
            } catch {
                printError("That is not possible: \(error.sentence)")
            }
        }
    }

    /// The text with each character of a password replaced by `x`.
    var withoutPasswords: String {
        var bytes = Array(utf8)
        for range in passwordRanges(in: bytes) {
            for place in range { bytes[place] = UInt8(ascii: "x") }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
