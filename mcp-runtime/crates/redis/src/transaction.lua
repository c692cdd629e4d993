-- Applies one transaction of a store (see `mcp_runtime::store::Transaction`).
--
-- KEYS[1] is the name of the partition with its hash tag. All other names are made from it, so that Redis Cluster finds them on the same
-- node. ARGV[1] is the number of the database. Then ARGV has the operations one after the other: the name of an operation, and its arguments.
--
-- The result is {1, output, …}, or {0, number of the operation, reason, microseconds to wait}.

local base = KEYS[1]
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local now_ms = math.floor(now / 1000)

local sizes = {
    get = 1, put = 4, touch = 2, remove = 2, append = 4, read = 4, clear = 1, enlist = 4, delist = 2, list = 3, pass = 3, enter = 4,
    leave = 2, count = 1,
}

-- Lua writes large numbers with an exponent, which Redis does not read.
local function integer(number)
    return string.format('%.0f', number)
end

local operations = {}
local at = 2
while at <= #ARGV do
    local operation = { name = ARGV[at] }
    local size = sizes[operation.name]
    for argument = 1, size do
        operation[argument] = ARGV[at + argument]
    end
    operations[#operations + 1] = operation
    at = at + 1 + size
end

local function version_of(name)
    return tonumber(redis.call('HGET', base .. ':r:' .. name, 'v') or nil)
end

local function holds(name, condition)
    if condition == '*' then
        return true
    end
    local version = version_of(name)
    if condition == '-' then
        return version == nil
    end
    return version == tonumber(condition)
end

-- Removes the entries of an index that have expired.
local function purge(index)
    local ends = base .. ':e:' .. index
    repeat
        local expired = redis.call('ZRANGEBYSCORE', ends, '-inf', integer(now_ms), 'LIMIT', 0, 500)
        for _, name in ipairs(expired) do
            local order = redis.call('HGET', base .. ':o:' .. index, name)
            if order then
                redis.call('ZREM', base .. ':i:' .. index, order .. name)
                redis.call('HDEL', base .. ':o:' .. index, name)
            end
            redis.call('ZREM', ends, name)
        end
    until #expired < 500
end

-- Returns the id of the last event of a log, and the process of Redis that has appended it.
local function last_of(log)
    local last = redis.call('XREVRANGE', base .. ':l:' .. log, '+', '-', 'COUNT', 1)
    if #last == 0 then
        return 0
    end
    return tonumber(string.match(last[1][1], '^%d+')), last[1][2][4]
end

-- Returns the identity of this process of Redis. It is another one after a restart, and after a failover.
local own_process
local function process()
    own_process = own_process or string.match(redis.call('INFO', 'server'), 'run_id:(%w+)') or '-'
    return own_process
end

local function record_of(name)
    local record = redis.call('HMGET', base .. ':r:' .. name, 'v', 'd')
    if not record[1] then
        return {}
    end
    return { tonumber(record[1]), record[2] }
end

-- Returns the number of places whose leases have not expired, and removes the others.
local function taken(places)
    local key = base .. ':p:' .. places
    redis.call('ZREMRANGEBYSCORE', key, '-inf', integer(now_ms))
    return redis.call('ZCARD', key)
end

-- First all conditions, and then all changes.
for number, operation in ipairs(operations) do
    local name = operation.name
    if name == 'put' and not holds(operation[1], operation[4]) then
        return { 0, number - 1, 'condition' }
    elseif name == 'remove' and not holds(operation[1], operation[2]) then
        return { 0, number - 1, 'condition' }
    elseif name == 'pass' then
        local due = tonumber(redis.call('GET', base .. ':t:' .. operation[1]) or nil)
        local wait = due and due - now - tonumber(operation[3]) or 0
        if wait > 0 then
            return { 0, number - 1, 'wait', wait }
        end
    elseif name == 'enter' then
        local others = taken(operation[1])
        if redis.call('ZSCORE', base .. ':p:' .. operation[1], operation[2]) then
            others = others - 1
        end
        if others >= tonumber(operation[3]) then
            return { 0, number - 1, 'place' }
        end
    end
end

local version = now
local apply = {}

function apply.get(operation)
    return record_of(operation[1])
end

function apply.put(operation)
    local key = base .. ':r:' .. operation[1]
    local before = version_of(operation[1])
    if before and before >= version then
        version = before + 1
    end
    local own = version
    version = version + 1
    redis.call('HSET', key, 'v', integer(own), 'd', operation[2])
    redis.call('PEXPIRE', key, operation[3])
    return own
end

function apply.touch(operation)
    redis.call('PEXPIRE', base .. ':r:' .. operation[1], operation[2])
    return 0
end

function apply.remove(operation)
    redis.call('DEL', base .. ':r:' .. operation[1])
    return 0
end

function apply.append(operation)
    local key = base .. ':l:' .. operation[1]
    local last, writer = last_of(operation[1])
    local id = last + 1
    if writer ~= process() then
        -- A new log goes on after every id that it had before. So does a log that another process of Redis has written, because its last
        -- events may be lost: their readers must not wait for ids that they have seen.
        id = math.max(last + 2, version)
        version = version + 1
    end
    redis.call('XADD', key, 'MAXLEN', operation[4], integer(id) .. '-0', 'd', operation[2], 'p', process())
    redis.call('PEXPIRE', key, operation[3])
    -- The announcement contains a small event, so a follower that has all earlier events need not read the log.
    local announced = integer(id)
    if #operation[2] <= 4096 then
        announced = announced .. ' ' .. operation[2]
    end
    -- Channels of Redis belong to no database, so the name of the channel has its number.
    redis.call('PUBLISH', key .. '@' .. ARGV[1], announced)
    return id
end

function apply.read(operation)
    local last = last_of(operation[1])
    local events = { last }
    local key, after = base .. ':l:' .. operation[1], '(' .. operation[2] .. '-0'
    local most, bytes = tonumber(operation[3]), tonumber(operation[4])
    -- With a limit in bytes, large events are not all copied before they are counted.
    local count = bytes and 4 or most
    while last > 0 and most > 0 and (not bytes or bytes > 0) do
        count = math.min(count, most)
        local found = redis.call('XRANGE', key, after, '+', 'COUNT', integer(count))
        for _, event in ipairs(found) do
            events[#events + 1] = tonumber(string.match(event[1], '^%d+'))
            events[#events + 1] = event[2][2]
            if bytes then
                bytes = bytes - #event[2][2]
                if bytes <= 0 then
                    return events
                end
            end
        end
        if #found < count then
            break
        end
        after, most, count = '(' .. found[#found][1], most - count, count * 2
    end
    return events
end

function apply.clear(operation)
    local key = base .. ':l:' .. operation[1]
    redis.call('DEL', key)
    return 0
end

function apply.enlist(operation)
    local index, name, order, ttl = operation[1], operation[2], operation[3], tonumber(operation[4])
    purge(index)
    local members, orders, ends = base .. ':i:' .. index, base .. ':o:' .. index, base .. ':e:' .. index
    local before = redis.call('HGET', orders, name)
    if before then
        redis.call('ZREM', members, before .. name)
    end
    redis.call('ZADD', members, 0, order .. name)
    redis.call('HSET', orders, name, order)
    redis.call('ZADD', ends, 'GT', integer(now_ms + ttl), name)
    local latest = redis.call('ZREVRANGE', ends, 0, 0, 'WITHSCORES')[2]
    for _, key in ipairs({ members, orders, ends }) do
        redis.call('PEXPIREAT', key, integer(tonumber(latest)))
    end
    return 0
end

function apply.delist(operation)
    local index, name = operation[1], operation[2]
    local order = redis.call('HGET', base .. ':o:' .. index, name)
    if order then
        redis.call('ZREM', base .. ':i:' .. index, order .. name)
        redis.call('HDEL', base .. ':o:' .. index, name)
        redis.call('ZREM', base .. ':e:' .. index, name)
    end
    return 0
end

function apply.list(operation)
    local index, after, most = operation[1], operation[2], operation[3]
    purge(index)
    local entries = {}
    local found = redis.call('ZRANGEBYLEX', base .. ':i:' .. index, after, '+', 'LIMIT', 0, most)
    for _, member in ipairs(found) do
        local name = string.sub(member, 17)
        entries[#entries + 1] = { string.sub(member, 1, 16), name, record_of(name) }
    end
    return entries
end

function apply.pass(operation)
    local key = base .. ':t:' .. operation[1]
    local due = tonumber(redis.call('GET', key) or nil)
    if not due or due < now then
        due = now
    end
    due = due + tonumber(operation[2])
    redis.call('SET', key, integer(due), 'PX', integer(math.ceil((due - now) / 1000) + 1))
    return 0
end

function apply.enter(operation)
    local key = base .. ':p:' .. operation[1]
    redis.call('ZADD', key, integer(now_ms + tonumber(operation[4])), operation[2])
    local latest = redis.call('ZREVRANGE', key, 0, 0, 'WITHSCORES')[2]
    redis.call('PEXPIREAT', key, integer(tonumber(latest)))
    return 0
end

function apply.leave(operation)
    redis.call('ZREM', base .. ':p:' .. operation[1], operation[2])
    return 0
end

function apply.count(operation)
    return taken(operation[1])
end

local outputs = { 1 }
for _, operation in ipairs(operations) do
    outputs[#outputs + 1] = apply[operation.name](operation)
end
return outputs
