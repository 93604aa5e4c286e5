import Commands
import Core
import Service
import Wording

extension CommandEnd {
    init(_ error: CommandError) {
        switch error {
        case .refused(let refusal):
            self = .refused(code: refusal.code, sentence: refusal.withRemedy)
        case .fault(let fault): self.init(fault)
        }
    }

    init(_ fault: Fault) { self = .fault(fault.withRemedy) }
}

/// Runs a use case. An error of the use case ends the command.
func obey<Answer>(
    _ answer: @autoclosure () throws(CommandError) -> Answer
) throws(CommandEnd) -> Answer {
    try rethrowing(as: CommandEnd.init, answer)
}

/// Queries the ledger. A fault ends the command.
func ask<Answer>(_ answer: @autoclosure () throws(Fault) -> Answer) throws(CommandEnd) -> Answer {
    try rethrowing(as: CommandEnd.init, answer)
}

extension UseCases {
    /// Fulfils the wish. An error ends the command.
    func fulfil<Answer>(_ wish: Wish<Answer>) throws(CommandEnd) -> Answer {
        try obey(ledger.perform(wish))
    }
}
