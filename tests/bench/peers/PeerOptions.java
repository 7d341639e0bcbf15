import java.util.Arrays;
import java.util.regex.Pattern;

/** The command line that both peers share. */
record PeerOptions(String hosts, double round_trip_ms, int repeat) {
  private static final Pattern HOSTS = Pattern.compile("[^,:/\\s]+:\\d{1,5}(,[^,:/\\s]+:\\d{1,5})*");
  private static final int MAX_REPEAT = 1000;

  static PeerOptions parse(String[] arguments) {
    String hosts = null;
    double round_trip_ms = 0;
    int repeat = 5;
    for (int i = 0; i < arguments.length; i += 2) {
      if (i + 1 == arguments.length) {
        throw new IllegalArgumentException(arguments[i] + " needs a value");
      }
      String value = arguments[i + 1];
      switch (arguments[i]) {
        case "--hosts" -> hosts = value;
        case "--round-trip-ms" -> round_trip_ms = number(arguments[i], value);
        case "--repeat" -> repeat = whole_number(arguments[i], value);
        default -> throw new IllegalArgumentException("unknown argument " + arguments[i]
            + "; known are --hosts, --round-trip-ms and --repeat");
      }
    }
    return checked(hosts, round_trip_ms, repeat);
  }

  private static PeerOptions checked(String hosts, double round_trip_ms, int repeat) {
    if (hosts == null || !HOSTS.matcher(hosts).matches() || !ports_in_range(hosts)) {
      throw new IllegalArgumentException("--hosts must be host:port[,host:port...]");
    }
    if (!(round_trip_ms > 0 && round_trip_ms <= 1000)) {
      throw new IllegalArgumentException("--round-trip-ms must be above 0 and at most 1000");
    }
    if (repeat < 1 || repeat > MAX_REPEAT) {
      throw new IllegalArgumentException("--repeat must be from 1 to " + MAX_REPEAT);
    }
    return new PeerOptions(hosts, round_trip_ms, repeat);
  }

  private static double number(String name, String value) {
    try {
      return Double.parseDouble(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(name + " must be a number, not '" + value + "'");
    }
  }

  private static int whole_number(String name, String value) {
    try {
      return Integer.parseInt(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(name + " must be a whole number, not '" + value + "'");
    }
  }

  private static boolean ports_in_range(String hosts) {
    return Arrays.stream(hosts.split(","))
        .allMatch(host -> Integer.parseInt(host.substring(host.lastIndexOf(':') + 1)) <= 65535);
  }

  /** A round takes some hundred round trips; four times that means that something is stuck. */
  long limit_seconds() {
    return 30 + (long) Math.ceil((repeat + 1) * 400 * round_trip_ms / 1000);
  }
}
