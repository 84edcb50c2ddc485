// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import java.io.Serializable;

/**
 * A task for executors, which tests send to one that is imitated.
 *
 * @param <T> type of the result
 */
@FunctionalInterface
public interface Call<T> extends Serializable {
  T run(int rank) throws Exception;
}
