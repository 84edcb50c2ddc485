package org.ddstore.contract;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.ObjectInputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import org.ddstore.Backing;
import org.ddstore.ReadPath;
import org.ddstore.StoreOptions;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LaneExchange;
import org.ddstore.memory.ProcessDirectory;

/**
 * A JVM that plays one rank of one scenario after the other. Each line of its standard input is a
 * {@link Task}; each is answered by a line {@code ok}, or by the stack trace in base64.
 */
final class RankWorker {
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final Leaks leaks;
  private final StoreOptions options;

  private RankWorker(Backing backing, Path root) {
    this.leaks = new Leaks(root);
    this.options =
        backing == Backing.FILE
            ? StoreOptions.defaults().withFiles(root)
            : StoreOptions.defaults().withSharedMemory(root);
  }

  /** Arguments: backing, root directory. */
  public static void main(String[] args) throws Exception {
    PrintStream answers = System.out;
    System.setOut(System.err);
    RankWorker worker = new RankWorker(Backing.valueOf(args[0]), Path.of(args[1]));
    BufferedReader tasks =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    for (String line = tasks.readLine(); line != null; line = tasks.readLine()) {
      answers.println(worker.answer(Task.parse(line)));
    }
  }

  private String answer(Task task) {
    try {
      play(task);
      leaks.assertNothingHeld();
      return "ok";
    } catch (Throwable e) {
      StringWriter trace = new StringWriter();
      e.printStackTrace(new PrintWriter(trace));
      return Base64.getEncoder().encodeToString(trace.toString().getBytes(StandardCharsets.UTF_8));
    }
  }

  private void play(Task task) throws Exception {
    ProcessDirectory directory = ProcessDirectory.acquire(task.meeting());
    try (LaneExchange exchange = LaneExchange.overFiles(directory)) {
      play(task, new Meeting(task.meeting(), exchange, task.rank(), task.ranks()));
    } finally {
      directory.release();
    }
  }

  private void play(Task task, Meeting meeting) throws Exception {
    try (Communicator group = meeting.join("group", task.timeout());
        Communicator control = meeting.join("control", PATIENCE)) {
      try (RankEnv env = new RankEnv(group, control, options, ReadPath.SAME_HOST, null)) {
        task.scenario().run(env);
        if (!task.losing()) {
          env.meet(); // until all are through, nobody leaves the group
        }
      }
    }
  }

  /** A rank's part in a run; one line of text. */
  record Task(int rank, int ranks, Duration timeout, boolean losing, Path meeting, String encoded) {
    String line() {
      return "%d %d %s %s %s %s".formatted(rank, ranks, timeout, losing, meeting, encoded);
    }

    static Task parse(String line) {
      String[] words = line.split(" ", -1);
      return new Task(
          Integer.parseInt(words[0]),
          Integer.parseInt(words[1]),
          Duration.parse(words[2]),
          Boolean.parseBoolean(words[3]),
          Path.of(words[4]),
          words[5]);
    }

    Scenario scenario() throws IOException, ClassNotFoundException {
      byte[] bytes = Base64.getDecoder().decode(encoded);
      try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
        return (Scenario) in.readObject();
      }
    }
  }
}
