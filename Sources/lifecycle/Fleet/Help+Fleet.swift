extension Help {
  static let fleet = """
    Shows the processes that announce their life cycle at a broker of MQTT: which
    run, which are suspended, which ended in order, and which vanished. On a
    terminal it draws a table, and draws it again at each change; q quits. To a
    pipe, and on a terminal of the type dumb, it prints a line for each change.

    USAGE
      lifecycle fleet --broker HOST[:PORT] [--tls]
                      [--user NAME --password-file FILE] [--json] [TOPIC]

      --broker HOST      the broker's name or address; the port is 1883, or 8883
                         with --tls
      --tls              by TLS, with the certificates that the system trusts
      --user NAME        the name by which the broker knows this tool
      --password-file F  a file whose first line is the password
      --json             one JSON object a line: topic, state, status, cause, time;
                         state is null if the broker keeps nothing any more
      TOPIC              only topics like this one: + stands for one level, # at the
                         end for all below; quote it for the shell

    The tool needs a build with the package trait MQTT:
    swift run --traits MQTT lifecycle fleet --broker HOST

    STATUS
      0  it was quit, or the reader of the pipe has gone
      64 wrong usage                    69 this build has no MQTT
      70 the end took too long          74 writing failed
      71 the system has no descriptor or thread left

    EXAMPLES
      lifecycle fleet --broker localhost
      lifecycle fleet --broker broker.example --tls 'shop/+'
      lifecycle fleet --broker localhost --json | jq .topic

    """
}
