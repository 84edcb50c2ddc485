// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.nio.file.Path;
import java.util.List;

/** The place in which processes of ranks run. */
public interface Place {
  /** This machine, its processes reached by loopback. */
  Place HERE =
      new Place() {
        @Override
        public String name() {
          return "here";
        }

        @Override
        public String address() {
          return "127.0.0.1";
        }

        @Override
        public ProcessBuilder command(List<String> command) {
          return new ProcessBuilder(command);
        }

        @Override
        public Path path(String absolute) {
          return Path.of(absolute);
        }
      };

  /** One word; the same for ranks that share a /dev/shm. */
  String name();

  /** Returns the address at which all places of a run reach the processes here. */
  String address();

  /** Returns a builder of a process that runs a command here; starts nothing. */
  ProcessBuilder command(List<String> command);

  /** Returns the path by which the test reaches a file of the place. */
  Path path(String absolute);
}
