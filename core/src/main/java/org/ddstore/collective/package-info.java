/** Exchange among ranks: the rendezvous at start and the collectives after it. */
package org.ddstore.collective;
