/// Returns the result of `value`, and rethrows its error as the caller's error type.
package func rethrowing<Value, Inner: Error, Outer: Error>(
    as outer: (Inner) -> Outer, _ value: () throws(Inner) -> Value
) throws(Outer) -> Value {
    do throws(Inner) {
        return try value()
    } catch {
        throw outer(error)
    }
}

package func rethrowing<Value, Inner: Error, Outer: Error>(
    as outer: (Inner) -> Outer, _ value: @autoclosure () throws(Inner) -> Value
) throws(Outer) -> Value {
    try rethrowing(as: outer) { () throws(Inner) in try value() }
}

/// Calls a function whose only possible error is a fault. A fault ends the command.
package func obtain<Answer>(
    _ answer: @autoclosure () throws(Fault) -> Answer
) throws(CommandError) -> Answer {
    try rethrowing(as: CommandError.fault, answer)
}
