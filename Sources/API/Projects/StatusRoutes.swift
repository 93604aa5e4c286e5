import Core
import HTTPServer
import JSON
import Service
import Wording

/// The call about a project's status.
struct StatusRoutes: Sendable {
    let needs: Needs
    let words: CommandWords

    var routes: [Route] { [Route("GET", "/status", .administer, .database, status)] }

    private func status(_ call: Call) throws(Problem) -> Response {
        let found = try obey(needs.needs(of: call.access.project))
        return .json(["needs": .array(found.map { $0.json(words.advice($0.remedy)) })])
    }
}

extension ProjectNeed {
    fileprivate func json(_ advice: CommandWords.Advice) -> JSON {
        [
            "code": .string(code), "wrong": .bool(isWrong), "detail": .string(sentence),
            "remedy": .string(advice.text),
            "commands": .array(advice.commands.map(JSON.string)),
        ]
    }
}
