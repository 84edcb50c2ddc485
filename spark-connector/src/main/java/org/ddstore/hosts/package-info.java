/**
 * Two hosts on one machine, for tests and programs that need a network between their processes:
 * start at {@link org.ddstore.hosts.TwoHosts}. Linux and root only.
 */
@Internal
package org.ddstore.hosts;

import org.ddstore.types.Internal;
