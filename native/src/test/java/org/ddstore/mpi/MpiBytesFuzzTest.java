// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.List;
import org.ddstore.contract.Untrusted;
import org.junit.jupiter.params.provider.MethodSource;

/** What ranks exchange before they join an MPI world. */
class MpiBytesFuzzTest {
  static List<byte[]> members() {
    return List.of(
        new Member(true, false, 1, 2, 3, "", 4, 5, "host", true, false, "btl=tcp", 6, "7@host")
            .toBytes());
  }

  @MethodSource("members")
  @FuzzTest
  void member(byte[] bytes) {
    Untrusted.parse(() -> Member.parse(bytes), IllegalArgumentException.class)
        .ifPresent(member -> assertThat(Member.parse(member.toBytes())).isEqualTo(member));
    Untrusted.parse(() -> RecordLayout.parse(bytes), IllegalArgumentException.class);
  }
}
