import Commands
import Core
import Service

extension CommandEnd {
    init(_ error: CommandError) {
        switch error {
        case .refused(let refusal):
            self = .refused(code: refusal.code, sentence: refusal.sentence)
        case .fault(let fault): self.init(fault)
        }
    }

    init(_ fault: Fault) { self = .fault(fault.sentence) }
}

/// Runs a use case. Its error becomes the command's end.
func obey<Answer>(
    _ answer: @autoclosure () throws(CommandError) -> Answer
) throws(CommandEnd) -> Answer {
    try rethrowing(as: CommandEnd.init, answer)
}

/// Queries the ledger. A fault becomes the command's end.
func ask<Answer>(_ answer: @autoclosure () throws(Fault) -> Answer) throws(CommandEnd) -> Answer {
    try rethrowing(as: CommandEnd.init, answer)
}

extension UseCases {
    /// Fulfils the wish. Its error becomes the command's end.
    func fulfil<Answer>(_ wish: Wish<Answer>) throws(CommandEnd) -> Answer {
        try obey(ledger.perform(wish))
    }
}
